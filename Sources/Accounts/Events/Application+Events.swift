extension Applications {
    /// The applications as far as events concern them.
    package var subscribers: [EventSubscriber] {
        all.map { application in
            EventSubscriber(
                id: application.id,
                events: application.webhook?.events ?? [],
                webhook: application.webhook,
                backchannelLogoutURI: application.backchannelLogoutURI,
                claims: { application.claims(of: $0) }
            )
        }
    }
}
