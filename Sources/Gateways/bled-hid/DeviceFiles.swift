import EventLoop
import Glibc
import HIDGateway

/// Opens /dev/uhid for each device of the kernel.
final class DeviceFiles: UhidFiles {
  private let path: String
  private let loop: EventLoop

  init(path: String, on loop: EventLoop) {
    self.path = path
    self.loop = loop
  }

  func open(_ received: @escaping (UhidEvent) -> Void) throws(UhidFailure) -> any UhidFile {
    let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      let remedy =
        switch errno {
        case ENOENT, ENODEV, ENXIO: "load the kernel's module: modprobe uhid"
        case EACCES, EPERM: "start bled-hid by its unit, which gives it this file"
        default: "is the limit of open files reached?"
        }
      throw UhidFailure("\(path) cannot be opened (\(String(cString: strerror(errno)))): \(remedy)")
    }
    do {
      return try DeviceFile(descriptor, on: loop, received)
    } catch {
      Glibc.close(descriptor)
      throw UhidFailure("\(path) cannot be watched: \(error)")
    }
  }
}

/// A device of the kernel: a packet for each request and event.
final class DeviceFile: UhidFile {
  private let descriptor: Int32
  private var watch: Watch?
  private let received: (UhidEvent) -> Void
  private var buffer = [UInt8](repeating: 0, count: UhidEvent.length)

  /// - Parameter descriptor: belongs to the file from now on, unless this throws.
  init(_ descriptor: Int32, on loop: EventLoop, _ received: @escaping (UhidEvent) -> Void) throws(EventLoopError) {
    self.descriptor = descriptor
    self.received = received
    watch = try Watch(descriptor, on: loop) { [unowned self] in ready($0) }
  }

  deinit { close() }

  func send(_ request: UhidRequest) throws(UhidFailure) {
    let octets = request.octets
    guard write(descriptor, octets, octets.count) >= 0 else {
      throw UhidFailure("the kernel refuses its input: \(String(cString: strerror(errno)))")
    }
  }

  func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    Glibc.close(descriptor)
  }

  private func ready(_ readiness: Watch.Readiness) {
    // The last reference may go while an event is handled.
    withExtendedLifetime(self) {
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 {
        if let event = UhidEvent(Array(buffer.prefix(count))) { received(event) }
      } else if count == 0 || readiness.contains(.failed) {
        // Nothing more comes, and would be reported again and again.
        watch?.isEnabled = false
      }
    }
  }
}
