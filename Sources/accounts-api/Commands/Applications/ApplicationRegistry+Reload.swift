import Accounts
import Logging

extension ApplicationRegistry {
    /// Reads the applications file again, and logs the outcome. A thread of its own reads the file, because a slow disk
    /// blocks the thread that reads from it. Then stores the event subscriptions of the applications, so that from now
    /// on, transactions write the events of these subscriptions.
    func reload(_ logger: Logger, storingIn database: Database) async {
        await withCheckedContinuation { finished in
            _ = DedicatedThread(named: "applications") {
                self.reloadAndLog(logger)
                finished.resume()
            }
        }
        do throws(DatabaseError) { try await database.store(current.subscribers) } catch {
            logger.error("cannot store the event subscriptions; reload again", metadata: ["reason": "\(error)"])
        }
    }

    private func reloadAndLog(_ logger: Logger) {
        do throws(ApplicationsFileError) {
            try reload()
            let applications = current
            for warning in applications.warnings {
                logger.warning("the applications file takes a risk", metadata: ["reason": "\(warning)"])
            }
            let count: Logger.MetadataValue = .stringConvertible(applications.all.count)
            logger.notice("applications reloaded", metadata: ["applications": count])
        } catch {
            for mistake in error.mistakes {
                logger.error(
                    "applications not reloaded; the server keeps the previous ones",
                    metadata: ["reason": "\(mistake)"]
                )
            }
        }
    }
}
