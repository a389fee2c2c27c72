/// The version of the service, by semantic versioning.
package let serviceVersion = "0.1.0"
