import Adapter
import Bluetooth
import EventLoop
import HCI
import TestSupport
import Testing

@testable import Controllers

/// An adapter with a controller played by a test, under virtual time.
final class HostStage {
  let controller: ScriptedController
  let scheduler: VirtualScheduler
  let loop: EventLoop
  let adapter: HostAdapter
  private(set) var events: [AdapterEvent] = []
  private(set) var links: [any Link] = []
  private(set) var ends: [BluetoothError] = []

  /// A stage with the adapter on.
  /// - Parameters:
  ///   - privacy: the lifetime of a private address.
  ///   - quirks: the owner of the table of quirks.
  convenience init(
    privacy: Duration? = nil, quirks: (any QuirkKeeper)? = nil, _ change: (ScriptedController) -> Void = { _ in }
  ) throws {
    let socket = try ControllerSocket()
    let controller = ScriptedController(socket)
    change(controller)
    try self.init(controller, at: .h4(socket.address), of: UserChannelKernel(), privacy, quirks)
  }

  /// A stage with a controller handed over by the kernel.
  convenience init(of kernel: UserChannelKernel, _ change: (ScriptedController) -> Void) throws {
    let controller = ScriptedController(kernel)
    change(controller)
    try self.init(controller, at: .user(1), of: kernel, nil)
    // The kernel's maximum time to switch it off.
    scheduler.advance(by: .seconds(10))
    try #require(
      try Patience.wait {
        try settle()
        return adapter.state == .on
      })
  }

  private init(
    _ controller: ScriptedController, at address: ControllerAddress, of kernel: UserChannelKernel,
    _ privacy: Duration?, _ quirks: (any QuirkKeeper)? = nil
  ) throws {
    self.controller = controller
    loop = try EventLoop()
    scheduler = VirtualScheduler(later: loop.execute)
    adapter = HostAdapter(
      address, by: SystemTransports(address, of: kernel, on: loop, by: scheduler), spare: Self.spare,
      scheduler: scheduler, logger: LogLines().logger)
    adapter.onEvent = { [unowned self] event in
      events.append(event)
      guard case .connected(let link) = event else { return }
      links.append(link)
      link.onEvent = { [unowned self] event in if case .ended(let error) = event { ends.append(error) } }
    }
    adapter.setPrivacy(privacy.map { PrivacySettings(root: Array(0..<16), rotation: $0) })
    if let quirks { adapter.setQuirks(quirks) }
    adapter.start()
    try settle()
  }

  /// Lets both sides do all that can be done without time passing.
  func settle() throws {
    var isBusy = true
    while isBusy {
      let hasWorked = try loop.poll()
      isBusy = try controller.work() || hasWorked
    }
  }

  /// Lets time pass.
  func wait(_ duration: Duration) throws {
    scheduler.advance(by: duration)
    try settle()
  }

  static let spare = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
  static let phone = DeviceAddress(value: 0xC011_2233_4455, kind: .random)

  /// The event of a link.
  static func connected(
    _ handle: ConnectionHandle, as role: LinkRole = .peripheral, to peer: DeviceAddress = phone
  ) -> HCIEvent {
    .leConnectionComplete(
      LEConnectionComplete {
        $0.handle = handle
        $0.role = role == .peripheral ? 1 : 0
        $0.peer = HCIAddress(peer)
        ($0.interval, $0.supervisionTimeout) = (24, 400)
      })
  }

  static func disconnected(
    _ handle: ConnectionHandle, _ reason: HCIErrorCode = .remoteUserTerminatedConnection
  ) -> HCIEvent {
    .disconnectionComplete(DisconnectionComplete { ($0.handle, $0.reason) = (handle, HCIStatus(reason)) })
  }

  /// The event of a link that is encrypted from now on, or could not be.
  static func encrypted(_ handle: ConnectionHandle, _ status: HCIErrorCode = .success) -> HCIEvent {
    .encryptionChange(
      EncryptionChange {
        $0.status = HCIStatus(status)
        $0.handle = handle
        $0.mode = status == .success ? 1 : 0
      })
  }
}
