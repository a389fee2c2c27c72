package import Logging

/// The reason why an image was not converted to a photo.
package enum ImageError: Error, Hashable, Sendable {
    case rejected(WorkRejection)
    case fault(ImageFault)
    /// The image process could not be started, or failed.
    case noWorker(String)
}

extension ImageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rejected(.busy): "too many images wait, or the machine is too busy"
        case .rejected(.cancelled): "the request was cancelled"
        case .rejected(.stopped): "the image processes are stopped"
        case .fault(.unsupported): "a process cannot decode the image, or a signal has ended the process"
        case .fault(.tooLarge): "the image is too large"
        case .noWorker(let reason): reason
        }
    }
}

/// Converts images to photos, each image in its own process (``ImageWorker``), with a fixed number of workers and a
/// bounded queue.
///
/// An image that needs more processor time or memory than a process may use is refused as unsupported.
package final class ImagePool: Sendable {
    private let pool: WorkPool<ImageProcess>
    private let processes: [ImageProcess]
    private let logger: Logger?

    /// - Parameters:
    ///   - program: the path of an executable that calls ``ImageWorker/run(in:for:)`` when it is started with
    ///     `arguments`.
    ///   - sandbox: whether a process may convert images without the seccomp filter.
    ///   - workers: the maximum number of processes; each may use ``ImageWorker/maximumMemory``.
    ///   - queue: the maximum number of waiting images.
    ///   - maximumWait: the maximum estimated wait of an image, computed from the duration of recent images.
    ///   - wallSeconds: the maximum wall-clock time of a process.
    package init(
        program: String,
        arguments: [String] = ["image-worker"],
        sandbox: ImageSandbox = .required,
        workers: Int = 1,
        queue: Int = 16,
        maximumWait: Duration = .seconds(60),
        wallSeconds: Int = ImageWorker.maximumWallSeconds,
        metrics: Metrics = Metrics(),
        logger: Logger? = nil
    ) {
        self.logger = logger
        let flags =
            (sandbox == .optional ? ["--\(ImageSandbox.optionalFlag)"] : [])
            + ["--\(ImageWorker.wallSecondsOption)", "\(wallSeconds)"]
        processes = (0..<workers).map { _ in
            ImageProcess(program: program, arguments: arguments + flags, sandbox: sandbox) {
                logger?.warning("image processes run without the seccomp filter, because the kernel refuses it")
            }
        }
        pool = WorkPool(
            named: "image",
            processes,
            queue: queue,
            maximumWait: maximumWait,
            finished: { metrics.images.record($0) },
            rejected: { metrics.imagesRefused.add() }
        )
    }

    /// A pool without workers, for commands that process no images.
    package static let none = ImagePool(program: "", workers: 0, queue: 0)

    /// The number of images that are being converted.
    var running: Int { pool.load.running }

    /// The number of images in the queue.
    var waiting: Int { pool.load.waiting }

    /// Converts an image. Throws `busy` immediately if the estimated wait is too long, or if the queue is full and no
    /// network with more images gives up a place. Throws `busy` later if the full queue gives the image's place to a
    /// network with fewer images, if the deadline of the request passes, or if the process did not get enough processor
    /// time or memory.
    ///
    /// - Parameter network: the network that uploads the image. Networks are served in turn.
    package func photo(of image: [UInt8], for network: Network = .unknown) async throws(ImageError) -> Photo {
        let result: Result<Photo, ImageError>
        do throws(WorkRejection) {
            result = try await pool.run(for: network) { [logger] process in
                do throws(ImageError) { return .success(try process.photo(of: image)) } catch {
                    // The error is logged here, because the caller may have given up.
                    if case .noWorker(let reason) = error {
                        logger?.error("image process failed", metadata: ["reason": "\(reason)"])
                    }
                    return .failure(error)
                }
            }
        } catch {
            throw .rejected(error)
        }
        return try result.get()
    }

    /// Converts a built-in image, so that a system that cannot process images is noticed before the first upload.
    ///
    /// - Returns: the reason why images cannot be processed; nil if they can.
    package func trial() async -> ImageError? {
        do throws(ImageError) { _ = try await photo(of: Self.smallestImage) } catch { return error }
        return nil
    }

    /// A PNG of one white pixel.
    private static let smallestImage: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00, 0x00, 0x00,
        0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0xF8, 0x0F, 0x00, 0x01, 0x01, 0x01, 0x00, 0xB1, 0x38, 0xF6,
        0x14, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    /// Rejects waiting images, kills the processes, and blocks until they have ended.
    package func shutdown() {
        for process in processes { process.stop() }
        pool.shutdown()
    }
}
