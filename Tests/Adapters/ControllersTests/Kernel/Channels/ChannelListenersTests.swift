import Adapter
@testable import Controllers
import Bluetooth
import Glibc
import Testing

@Suite("Numbers under which devices open channels")
struct ChannelListenersTests {
  /// Plays the kernel: refuses numbers, and offers devices' channels.
  private final class Script: ChannelSockets {
    var refused: [UInt16: Int32] = [:]
    var open: [UInt16: Socket] = [:]
    var addresses: [DeviceAddress] = []

    func listen(
      on psm: UInt16, _ parameters: ChannelParameters, at address: DeviceAddress, _ offered: @escaping () -> Void
    ) throws(SystemError) -> any ChannelAcceptor {
      addresses.append(address)
      if let code = refused[psm] { throw SystemError(result: -code) }
      if open[psm]?.isOpen == true { throw SystemError(result: -EADDRINUSE) }
      let socket = Socket(offered)
      open[psm] = socket
      return socket
    }
  }

  private final class Socket: ChannelAcceptor {
    let offered: () -> Void
    var waiting: [Result<AcceptedChannel, SystemError>] = []
    var isAccepting = true
    private(set) var isOpen = true

    init(_ offered: @escaping () -> Void) { self.offered = offered }

    func accept() throws(SystemError) -> AcceptedChannel? {
      waiting.isEmpty ? nil : try waiting.removeFirst().get()
    }

    func close() { isOpen = false }

    /// A device opens a channel, or the kernel has none to give.
    func offer(_ result: Result<AcceptedChannel, SystemError>) {
      waiting.append(result)
      offered()
    }
  }

  private let kernel = Script()
  private let clock = VirtualScheduler()
  private let listeners: ChannelListeners
  private let address = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)

  init() { listeners = ChannelListeners(kernel, scheduler: clock) }

  private func publish(_ psm: UInt16? = nil, isInUse: Bool = true) throws -> UInt16 {
    try listeners.publish(psm, ChannelParameters(), at: isInUse ? address : nil, of: "hci0")
  }

  private func channel(_ handle: UInt16?) throws -> AcceptedChannel {
    let number = open("/dev/null", O_RDONLY)
    try #require(number >= 0)
    return AcceptedChannel(descriptor: Descriptor(number), handle: handle)
  }

  @Test("A free number is the highest that neither we nor another program have")
  func freeNumbers() throws {
    kernel.refused = [0xFF: EADDRINUSE]
    #expect(try publish() == 0xFE)
    #expect(try publish() == 0xFD)
    #expect(try publish(0x80) == 0x80)
    listeners.unpublish(0xFE)
    #expect(kernel.open[0xFE]?.isOpen == false)
    #expect(try publish() == 0xFE)
  }

  @Test("A number that is taken, by us or by another program, is refused; so is a free one when there is none")
  func taken() throws {
    kernel.refused = [0x81: EADDRINUSE]
    for psm in [try publish(0x80), 0x81] {
      let error = #expect(throws: BluetoothError.self) { try publish(psm) }
      #expect(error?.name == "alreadyInProgress")
    }
    while (try? publish()) != nil {}
    let error = #expect(throws: BluetoothError.self) { try publish() }
    #expect(error?.name == "limitReached")
  }

  @Test("What the kernel cannot do is an error, and the number stays free")
  func refused() throws {
    for (code, name) in [(ENOPROTOOPT, "notSupported"), (EACCES, "adapterFailed")] {
      kernel.refused = [0x80: code]
      let error = #expect(throws: BluetoothError.self) { try publish(0x80) }
      #expect(error?.name == name)
    }
    kernel.refused = [:]
    #expect(try publish(0x80) == 0x80)
  }

  @Test("A number published while the controller is away has its socket when it is there, and anew when it returns")
  func controllerReturns() throws {
    _ = try publish(0x80, isInUse: false)
    #expect(kernel.open.isEmpty)
    listeners.open(at: address)
    let before = try #require(kernel.open[0x80])
    let other = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
    listeners.open(at: other)
    let after = try #require(kernel.open[0x80])
    #expect(!before.isOpen && after.isOpen && kernel.addresses == [address, other])
  }

  @Test("A number that another program took meanwhile is told to the log, and comes back with the next return")
  func lostMeanwhile() throws {
    var warnings: [UInt16] = []
    listeners.onWarning = { _, psm, _ in warnings.append(psm) }
    _ = try publish(0x80)
    kernel.refused = [0x80: EADDRINUSE]
    listeners.open(at: address)
    #expect(warnings == [0x80] && kernel.open[0x80]?.isOpen == false)
    kernel.refused = [:]
    listeners.open(at: address)
    #expect(kernel.open[0x80]?.isOpen == true)
  }

  @Test("A channel is passed on with its link; one whose link has ended is closed")
  func accepted() throws {
    var links: [UInt16] = []
    listeners.onChannel = { _, _, handle in links.append(handle) }
    _ = try publish(0x80)
    let socket = try #require(kernel.open[0x80])
    socket.offer(.success(try channel(0x40)))
    let orphan = try channel(nil)
    socket.offer(.success(orphan))
    #expect(links == [0x40] && !orphan.descriptor.isOpen)
    socket.offered()
    socket.offer(.failure(SystemError(result: -ECONNABORTED)))
    #expect(links == [0x40] && socket.isAccepting)
  }

  @Test("Without a free descriptor channels wait half a second", arguments: [EMFILE, ENFILE, ENOMEM])
  func exhausted(code: Int32) throws {
    _ = try publish(0x80)
    let socket = try #require(kernel.open[0x80])
    socket.offer(.failure(SystemError(result: -code)))
    #expect(!socket.isAccepting)
    clock.advance(by: .milliseconds(499))
    #expect(!socket.isAccepting)
    clock.advance(by: .milliseconds(1))
    #expect(socket.isAccepting)
  }
}
