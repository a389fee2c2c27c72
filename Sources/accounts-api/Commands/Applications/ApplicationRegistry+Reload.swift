import Accounts
import Logging

extension ApplicationRegistry {
    /// Reloads the applications on a thread of its own, because a disk may block, and logs what has happened. Transactions
    /// then write what the new applications want to hear.
    func reload(_ logger: Logger, storingIn database: Database) async {
        await withCheckedContinuation { finished in
            _ = DedicatedThread(named: "applications") {
                self.reloadAndLog(logger)
                finished.resume()
            }
        }
        do throws(DatabaseError) { try await database.store(current.subscribers) } catch {
            logger.error("events follow the applications of before; reload again", metadata: ["reason": "\(error)"])
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
                    "applications not reloaded; the server keeps the ones that it has",
                    metadata: ["reason": "\(mistake)"]
                )
            }
        }
    }
}
