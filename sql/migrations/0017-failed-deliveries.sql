-- Counts the events that an application has not received, for the metrics: without reading those that wait.
CREATE INDEX deliveries_failed ON deliveries (application) WHERE state = 'failed';
