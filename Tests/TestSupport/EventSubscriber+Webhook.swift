package import Accounts

extension EventSubscriber {
    /// An application with a webhook that receives these types of events, unsigned.
    package init(id: String, receiving types: [String]) {
        self.init(id: id, webhook: Webhook(url: "https://\(id).example/hooks", events: types, secrets: []))
    }
}
