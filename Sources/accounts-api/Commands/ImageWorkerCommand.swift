import Accounts
import ArgumentParser

/// What the server starts for each image that somebody sends.
struct ImageWorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-worker",
        abstract: "Reads an image and writes the photo that is made of it.",
        shouldDisplay: false
    )

    func run() {
        ImageWorker.run()
    }
}
