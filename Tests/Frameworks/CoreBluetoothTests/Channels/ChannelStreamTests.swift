import CoreBluetooth
import TestSupport
import Testing

extension WithDaemon {
  /// L2CAP channels to a device that echoes its input.
  @Suite struct ChannelStreamTests {
    private static let octets = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    private let daemon: BledProcess
    private let central: Central

    init() async throws {
      daemon = try await BledProcess()
      central = Central()
    }

    private func open() async throws -> CBL2CAPChannel {
      let echo = try await central.connected("Echo")
      echo.openL2CAPChannel(192)
      let event = try await central.log.next("didOpen")
      #expect(event.isOnQueue && event.error == nil && event.peripheral === echo)
      let channel = try #require(event.channel)
      #expect(channel.peer === echo && channel.psm == 192)
      return channel
    }

    private func end(_ channel: CBL2CAPChannel) throws {
      central.manager.cancelPeripheralConnection(try #require(channel.peer as? CBPeripheral))
    }

    @Test("R39: a delegate on a run loop is told of room, of octets and of the end; then the run loop is left")
    func runLoop() async throws {
      let channel = try await open()
      let user = StreamUser(channel, writing: Self.octets)
      try await until { user.received.count >= Self.octets.count }
      #expect(user.received == Self.octets)
      try end(channel)
      try await until { user.isOver }
      for isInput in [true, false] {
        #expect(user.count(.openCompleted, input: isInput) == 1)
        #expect(user.count(.endEncountered, input: isInput) == 1)
        #expect(user.count(.errorOccurred, input: isInput) == 0)
      }
      #expect(!user.wasCalledElsewhere)
      #expect(channel.inputStream.streamStatus == .closed && channel.outputStream.streamStatus == .closed)
    }

    @Test("R39: who does not read or write is told of octets and room once")
    func toldOnce() async throws {
      final class Idle: NSObject, StreamDelegate, @unchecked Sendable {
        let events = EventLog(queue: .main)
        func stream(_ stream: Foundation.Stream, handle event: Foundation.Stream.Event) {
          events.add(Event(name: "\(stream is InputStream ? "input" : "output") \(event.rawValue)"))
        }
      }
      let channel = try await open()
      nonisolated(unsafe) let (input, output) = try (#require(channel.inputStream), #require(channel.outputStream))
      let idle = Idle()
      let thread = Thread {
        for stream in [input, output] as [Foundation.Stream] {
          stream.schedule(in: .current, forMode: .default)
          stream.open()
          stream.delegate = idle
        }
        RunLoop.current.run()
      }
      thread.start()
      try await idle.events.next("output \(Stream.Event.hasSpaceAvailable.rawValue)")
      #expect(output.write([1, 2, 3], maxLength: 3) == 3)
      // A write is followed by the event that there is still room, a read of one octet by the event that there are
      // others.
      try await idle.events.next("output \(Stream.Event.hasSpaceAvailable.rawValue)")
      for octet: UInt8 in 1...3 {
        try await idle.events.next("input \(Stream.Event.hasBytesAvailable.rawValue)")
        var read: [UInt8] = [0]
        #expect(input.read(&read, maxLength: 1) == 1 && read == [octet])
      }
      output.close()
      input.close()
      try await until { thread.isFinished }
      #expect(
        idle.events.pending.map(\.name).sorted() == [
          "input \(Stream.Event.openCompleted.rawValue)", "output \(Stream.Event.openCompleted.rawValue)",
        ])
    }

    @Test("R39: without a run loop a program asks, or reads and waits")
    func withoutARunLoop() async throws {
      let channel = try await open()
      nonisolated(unsafe) let (input, output) = try (#require(channel.inputStream), #require(channel.outputStream))
      var buffer = [UInt8](repeating: 0, count: 100)
      #expect(input.streamStatus == .notOpen && !input.hasBytesAvailable && !output.hasSpaceAvailable)
      #expect(input.read(&buffer, maxLength: 100) == -1 && output.write([1], maxLength: 1) == -1)
      input.open()
      output.open()
      #expect(input.streamStatus == .open && !input.hasBytesAvailable && output.hasSpaceAvailable)
      #expect(output.write([1, 2, 3], maxLength: 3) == 3)
      try await until { input.hasBytesAvailable }
      #expect(input.read(&buffer, maxLength: 100) == 3 && buffer.prefix(3) == [1, 2, 3])
      #expect(!input.hasBytesAvailable)

      let read: @Sendable () -> Int = {
        var buffer = [UInt8](repeating: 0, count: 100)
        return input.read(&buffer, maxLength: 100)
      }
      #expect(output.write([4], maxLength: 1) == 1)
      #expect(await onThread(read) == 1)
      async let last = onThread(read)
      try end(channel)
      #expect(await last == 0)
      #expect(input.streamStatus == .atEnd && input.read(&buffer, maxLength: 100) == 0 && !input.hasBytesAvailable)
      try await until { output.streamStatus == .atEnd || output.write([5], maxLength: 1) == -1 }
      #expect(output.write([5], maxLength: 1) == -1)
    }

    @Test("R39: closed streams leave nothing in a run loop that does not run")
    func stillRunLoop() async throws {
      let channel = try await open()
      nonisolated(unsafe) let (input, output) = try (#require(channel.inputStream), #require(channel.outputStream))
      let isEmpty = await onThread {
        for stream in [input, output] as [Foundation.Stream] {
          stream.schedule(in: .current, forMode: .default)
          stream.open()
        }
        let closed = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
          input.close()
          output.close()
          closed.signal()
        }
        closed.wait()
        return !RunLoop.current.run(mode: .default, before: .distantPast)
      }
      #expect(isEmpty)
    }

    @Test("R17: channels are opened, or not, in the order of the calls")
    func order() async throws {
      let echo = try #require(try await open().peer as? CBPeripheral)
      // The daemon refuses 0 by itself, at once.
      for psm in [193, 0, 192] { echo.openL2CAPChannel(CBL2CAPPSM(psm)) }
      for code in [CBError.Code.connectionFailed, .invalidParameters, nil] {
        let event = try await central.log.next("didOpen")
        #expect((event.error as? CBError)?.code == code && (event.channel != nil) == (code == nil))
      }
    }

    @Test("R39: a channel that fails to open says why, and one that is closed ends at the device")
    func failures() async throws {
      let channel = try await open()
      let echo = try #require(channel.peer as? CBPeripheral)
      for (psm, code) in [(193, CBError.Code.connectionFailed), (0, .invalidParameters), (300, .invalidParameters)] {
        echo.openL2CAPChannel(CBL2CAPPSM(psm))
        let event = try await central.log.next("didOpen")
        #expect((event.error as? CBError)?.code == code && event.channel == nil)
      }
      // bled permits 32 per session: closed ones do not count.
      channel.inputStream.close()
      channel.outputStream.close()
      for _ in 0..<40 {
        echo.openL2CAPChannel(192)
        #expect(try await central.log.next("didOpen").channel != nil)
      }
    }
  }
}
