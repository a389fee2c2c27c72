/// Of the service, by semantic versioning.
let version = "0.1.0"
