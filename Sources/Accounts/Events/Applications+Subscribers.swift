extension Applications {
    /// The applications, with the settings that decide which events and logouts they receive.
    package var subscribers: [EventSubscriber] {
        all.map { application in
            EventSubscriber(
                id: application.id,
                webhook: application.webhook,
                backchannelLogoutURI: application.backchannelLogoutURI,
                claims: { application.claims(of: $0) }
            )
        }
    }
}
