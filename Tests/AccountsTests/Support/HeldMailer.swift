import Synchronization

@testable import Accounts

/// A mailer whose deliveries last until the test ends them.
final class HeldMailer: Mailer {
    /// A mail in delivery.
    struct Delivery: Sendable {
        let mail: Mail
        private let answers: AsyncStream<MailError?>.Continuation

        fileprivate init(_ mail: Mail, _ answers: AsyncStream<MailError?>.Continuation) {
            (self.mail, self.answers) = (mail, answers)
        }

        /// Ends the delivery. It fails with the error; without an error it succeeds.
        func end(with error: MailError? = nil) {
            answers.yield(error)
        }
    }

    private let begun: AsyncStream<Delivery>.Continuation
    private let count = Mutex(0)

    /// - Parameter begun: gets each mail when its delivery begins. Several mailers may share it.
    init(_ begun: AsyncStream<Delivery>.Continuation) {
        self.begun = begun
    }

    /// The number of calls of ``connect()``.
    var connections: Int { count.withLock { $0 } }

    func connect() async throws(MailError) {
        count.withLock { $0 += 1 }
    }

    func send(_ mail: Mail) async throws(MailError) -> String? {
        let (answers, answer) = AsyncStream.makeStream(of: MailError?.self)
        begun.yield(Delivery(mail, answer))
        for await error in answers {
            guard let error else { return nil }
            throw error
        }
        throw .temporary(reply: nil, reason: "the task was cancelled")
    }
}
