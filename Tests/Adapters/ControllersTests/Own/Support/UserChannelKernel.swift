@testable import Controllers
import Dispatch
import Glibc
import HCI
import Synchronization

/// A kernel with a user channel, played by a test: its ends of the sockets. It can be slow.
final class UserChannelKernel: UserChannelSockets {
  enum Call: Equatable { case opens, opened, refused, closes, closed }

  private struct State {
    var refusals: [Int32] = []
    var isWithoutBluetooth = false
    var isSlow = false
    var calls: [Call] = []
    var managementEnd: CInt = -1
    var controllerEnd: CInt = -1
    var completionsEnd: CInt = -1
    var withholdsCompletions = false
    var losesCompletions = false
    var modalias = ""
  }

  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 0)

  deinit { for end in [managementEnd, controllerEnd, completionsEnd] where end >= 0 { Glibc.close(end) } }

  /// The errors with which the controller is refused, one each time.
  var refusals: [Int32] {
    get { state.withLock(\.refusals) }
    set { state.withLock { $0.refusals = newValue } }
  }
  var isWithoutBluetooth: Bool {
    get { state.withLock(\.isWithoutBluetooth) }
    set { state.withLock { $0.isWithoutBluetooth = newValue } }
  }
  /// True if each opening and each closing lasts until `proceed`.
  var isSlow: Bool {
    get { state.withLock(\.isSlow) }
    set { state.withLock { $0.isSlow = newValue } }
  }
  /// True if the channel can be opened without reports of transmitted packets.
  var withholdsCompletions: Bool {
    get { state.withLock(\.withholdsCompletions) }
    set { state.withLock { $0.withholdsCompletions = newValue } }
  }
  /// True if it has room for few of those reports, and drops others.
  var losesCompletions: Bool {
    get { state.withLock(\.losesCompletions) }
    set { state.withLock { $0.losesCompletions = newValue } }
  }
  /// The name of its controller for drivers.
  var modalias: String {
    get { state.withLock(\.modalias) }
    set { state.withLock { $0.modalias = newValue } }
  }
  /// The openings and closings of the controller.
  var calls: [Call] { state.withLock(\.calls) }
  var attempts: Int { calls.count { $0 == .opens } }
  var managementEnd: CInt { state.withLock(\.managementEnd) }
  var controllerEnd: CInt { state.withLock(\.controllerEnd) }
  var completionsEnd: CInt { state.withLock(\.completionsEnd) }

  func management() throws(SystemError) -> Descriptor {
    if isWithoutBluetooth { throw SystemError(result: -EAFNOSUPPORT) }
    let (own, theirs) = try Self.pair()
    state.withLock { $0.managementEnd = own }
    return Descriptor(theirs)
  }

  func channel(of controller: ControllerIndex) throws(SystemError) -> Int32 {
    let refusal = state.withLock { state in
      state.calls.append(.opens)
      return state.refusals.isEmpty ? nil : state.refusals.removeFirst()
    }
    if isSlow { gate.wait() }
    if let refusal {
      state.withLock { $0.calls.append(.refused) }
      throw SystemError(result: -refusal)
    }
    let (own, theirs) = try Self.pair()
    state.withLock { state in
      if state.controllerEnd >= 0 { Glibc.close(state.controllerEnd) }
      state.controllerEnd = own
      state.calls.append(.opened)
    }
    return theirs
  }

  func completions(of controller: ControllerIndex, insteadOf channel: Int32) -> Descriptor? {
    guard withholdsCompletions, let (own, theirs) = try? losesCompletions ? Self.lossyPair() : Self.pair()
    else {
      return nil
    }
    state.withLock { state in
      if state.completionsEnd >= 0 { Glibc.close(state.completionsEnd) }
      state.completionsEnd = own
    }
    return Descriptor(theirs)
  }

  func modalias(of controller: ControllerIndex) -> String { modalias }

  func close(channel descriptor: Int32) {
    state.withLock { $0.calls.append(.closes) }
    if isSlow { gate.wait() }
    Glibc.close(descriptor)
    state.withLock { $0.calls.append(.closed) }
  }

  /// A slow opening or closing is complete.
  func proceed() { gate.signal() }

  func unplug() {
    state.withLock { state in
      Glibc.close(state.controllerEnd)
      state.controllerEnd = -1
    }
  }

  /// The second of them has room for some ten packets.
  private static func lossyPair() throws(SystemError) -> (CInt, CInt) {
    let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let ends = (socket(AF_INET, type, 0), socket(AF_INET, type, 0))
    var (address, room) = (sockaddr_in(), CInt(8192))
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    setsockopt(ends.1, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size))
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(ends.1, address, length) == 0 && getsockname(ends.1, address, &length) == 0
          && connect(ends.0, address, length) == 0
      }
    }
    guard isConnected else { throw SystemError(result: -errno) }
    return ends
  }

  private static func pair() throws(SystemError) -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError(result: -errno) }
    return (ends[0], ends[1])
  }
}

/// The controller's end of the channel, for a connected host.
extension UserChannelKernel: ControllerEnd {
  var isOpen: Bool { controllerEnd >= 0 }

  var connections: Int { attempts }

  func receive() throws -> [HCIPacket]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(controllerEnd, &buffer, buffer.count, CInt(MSG_DONTWAIT))
    return count > 0 ? [try HCIPacket(decoding: Array(buffer[..<count]))] : nil
  }

  func send(_ packets: [HCIPacket]) -> Bool {
    packets.allSatisfy { packet in
      var end = controllerEnd
      if case .event(let event) = packet, event.code == NumberOfCompletedPackets.code, completionsEnd >= 0 {
        end = completionsEnd
      }
      return Self.send(packet.octets, to: end)
    }
  }

  func send(_ octets: [UInt8]) -> Bool { Self.send(octets, to: controllerEnd) }

  private static func send(_ octets: [UInt8], to end: CInt) -> Bool {
    Glibc.send(end, octets, octets.count, CInt(MSG_NOSIGNAL)) == octets.count
  }

  func hangUp() { unplug() }
}
