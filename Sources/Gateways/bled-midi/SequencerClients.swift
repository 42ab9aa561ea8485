import EventLoop
import Glibc
import MIDIGateway

/// Opens a client of ALSA's sequencer for each device, by the kernel's own interface: a gateway only reads and writes
/// events, and alsa-lib would be one library more.
final class SequencerClients: SequencerFiles {
  private let path: String
  private let loop: EventLoop

  init(path: String, on loop: EventLoop) {
    self.path = path
    self.loop = loop
  }

  func open(
    _ name: String, _ received: @escaping (SequencerInput) -> Void
  ) throws(SequencerFailure) -> any SequencerFile {
    let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      let remedy =
        switch errno {
        case ENOENT, ENODEV, ENXIO: "load the kernel's module: modprobe snd-seq"
        case EACCES, EPERM: "start bled-midi by its unit, or as a member of the group audio"
        default: "are there too many clients of the sequencer, or open files?"
        }
      throw SequencerFailure("\(path) cannot be opened (\(String(cString: strerror(errno)))): \(remedy)")
    }
    do {
      return try SequencerClient(descriptor, port: Self.makePort(descriptor, name), on: loop, received)
    } catch {
      Glibc.close(descriptor)
      throw (error as? SequencerFailure) ?? SequencerFailure("\(path) cannot be watched: \(error)")
    }
  }

  /// Names the client, and makes its port.
  private static func makePort(_ descriptor: Int32, _ name: String) throws(SequencerFailure) -> UInt8 {
    var number: UInt32 = 0
    var port: [UInt8] = []
    guard ioctl(descriptor, SequencerRequest.clientID, &number) >= 0 else { throw refusal() }
    var client = SequencerRequest.client(number, name: name)
    var pool = SequencerRequest.pool(number)
    port = SequencerRequest.port(number, name: name)
    guard ioctl(descriptor, SequencerRequest.setClient, &client) >= 0,
      ioctl(descriptor, SequencerRequest.createPort, &port) >= 0
    else { throw refusal() }
    // A smaller pool is of use, too.
    _ = ioctl(descriptor, SequencerRequest.setPool, &pool)
    return port[SequencerRequest.portNumber]
  }

  private static func refusal() -> SequencerFailure {
    SequencerFailure("the sequencer makes no port: \(String(cString: strerror(errno)))")
  }
}

/// A client of the sequencer.
final class SequencerClient: SequencerFile {
  /// More than the kernel keeps for a client.
  private static let longestRead = 65536

  let port: UInt8
  private let descriptor: Int32
  private var watch: Watch?
  private let received: (SequencerInput) -> Void
  private var buffer = [UInt8](repeating: 0, count: longestRead)

  /// - Parameter descriptor: belongs to the client from now on, unless this throws.
  init(
    _ descriptor: Int32, port: UInt8, on loop: EventLoop, _ received: @escaping (SequencerInput) -> Void
  ) throws(EventLoopError) {
    self.descriptor = descriptor
    self.port = port
    self.received = received
    watch = try Watch(descriptor, on: loop) { [unowned self] in ready($0) }
  }

  deinit { close() }

  var isReading: Bool {
    get { watch?.isEnabled ?? false }
    set { watch?.isEnabled = newValue }
  }

  func send(_ event: [UInt8]) -> Bool { write(descriptor, event, event.count) == event.count }

  func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    Glibc.close(descriptor)
  }

  private func ready(_ readiness: Watch.Readiness) {
    // The last reference may go while events are handled.
    withExtendedLifetime(self) {
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 {
        received(.events(Array(buffer.prefix(count))))
      } else if count < 0, errno == ENOSPC {
        received(.lost)
      } else if count == 0 || readiness.contains(.failed) {
        // Nothing more comes, and would be reported again and again.
        watch?.isEnabled = false
      }
    }
  }
}
