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

    @Option(name: .customLong(ImageWorker.wallSecondsOption), help: .hidden)
    var wallSeconds = ImageWorker.maximumWallSeconds

    func validate() throws {
        if !(1...3600).contains(wallSeconds) {
            throw ValidationError(
                "invalid --\(ImageWorker.wallSecondsOption) \(wallSeconds): pass a number from 1 to 3600"
            )
        }
    }

    func run() {
        ImageWorker.run(in: isSandboxOptional ? .optional : .required, for: wallSeconds)
    }
}
