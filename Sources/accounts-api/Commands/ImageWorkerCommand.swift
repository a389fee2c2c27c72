import Accounts
import ArgumentParser

/// The command of the process that the server starts for each uploaded image.
struct ImageWorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-worker",
        abstract: "Reads an image and writes the photo made from it.",
        shouldDisplay: false
    )

    @Flag(name: .customLong(ImageSandbox.optionalFlag), help: .hidden)
    var isSandboxOptional = false

    func run() {
        ImageWorker.run(in: isSandboxOptional ? .optional : .required)
    }
}
