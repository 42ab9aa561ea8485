import Adapter
import Bluetooth
import TestSupport
import VirtualController

@testable import Controllers

/// An adapter with a user who acts at random.
final class RandomHost {
  let number: Int
  let adapter: HostAdapter
  let controller: VirtualController
  let course: Course
  private let bonds = StoredBonds()
  private(set) var conversations: [Conversation] = []
  private var awaited: Set<DeviceAddress> = []
  /// Calls without an outcome yet.
  var open = 0
  /// Ended links, to which no reference may remain.
  private var buried: [Buried] = []
  /// True if it only listens.
  var isQuiet = false

  private struct Buried { weak var link: (any Link)? }

  init(
    _ number: Int, _ controller: VirtualController, privacy: Duration?, on course: Course
  ) throws {
    (self.number, self.controller, self.course) = (number, controller, course)
    adapter = HostAdapter(
      .virtual("host \(number)"), by: VirtualTransports(to: controller),
      spare: DeviceAddress(value: 0xC000_0000_0001, kind: .random), scheduler: course.scheduler,
      logger: LogLines().logger)
    adapter.setBonds(bonds)
    adapter.setPairing(PairingSettings(acceptsDevices: true))
    adapter.setPrivacy(privacy.map { PrivacySettings(root: (0..<16).map { UInt8($0 + number) }, rotation: $0) })
    adapter.onEvent = { [unowned self] event in hear(event) }
    _ = try adapter.publishChannel(0x80, ChannelParameters(receiveMTU: 1000))
    adapter.start()
    adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(interval: .seconds(1), data: [2, 1, 6]))
  }

  /// Its address on the air.
  var address: DeviceAddress? { adapter.information.privateAddress ?? adapter.information.address }
  /// The number of ended links in memory.
  var undead: Int { buried.count { $0.link != nil } }

  private func hear(_ event: AdapterEvent) {
    switch event {
    case .connected(let link):
      // A device may have connected first: then the request is still open.
      if awaited.remove(link.peer) != nil, link.role == .peripheral { adapter.cancelConnect(to: link.peer) }
      let conversation = Conversation(link, self)
      conversations.append(conversation)
      // The other side's controller may report the link after that.
      if course.chance(50) { conversation.send(5) }
    case .pairing(_, .question(let id, _)): adapter.answer(id, course.chance(95) ? .accept : .refuse)
    case .pairing(_, .bonded(let bond)):
      course.count("bonds")
      bonds.all = bonds.all.filter { $0.peer != bond.peer } + [bond]
    case .stateChanged where adapter.state != .on:
      if !conversations.isEmpty { course.fault("host \(number) has links while its adapter is \(adapter.state)") }
      awaited = []
      course.count("times off")
    case .report: course.count("advertisements")
    default: break
    }
  }

  func forget(_ conversation: Conversation) {
    buried.append(Buried(link: conversation.link))
    conversations.removeAll { $0 === conversation }
  }

  // MARK: The user's actions

  /// Lets the user do something again and again.
  func live() {
    course.after(50...8000) { [self] in
      if !isQuiet, adapter.state == .on { act() }
      live()
    }
  }

  private func act() {
    guard course.chance(75), let conversation = course.any(of: conversations) else { return actAlone() }
    switch course.number(in: 1...100) {
    case ...35: conversation.send(course.number(in: 1...60))
    case ...45: conversation.raise()
    case ...55: conversation.openChannel(course.chance(50) ? .leCreditBased : .enhanced)
    case ...80:
      if let talk = course.any(of: conversation.talks) { conversation.send(course.number(in: 1...40), on: talk) }
    case ...84: if let talk = course.any(of: conversation.talks) { conversation.close(talk) }
    case ...90: pause(conversation)
    case ...92: conversation.request(.milliseconds(course.number(in: 8...60)))
    case ...93: conversation.readRSSI()
    case ...98: conversation.link.disconnect()
    default: conversation.send(300)
    }
  }

  private func actAlone() {
    switch course.number(in: 1...100) {
    case ...50: connect()
    case ...65: adapter.setScan(course.chance(60) ? ScanParameters() : nil)
    case ...80:
      adapter.setAdvertising(
        AdvertisingSetID(1), course.chance(85) ? AdvertisingParameters(interval: .seconds(1), data: [2, 1, 6]) : nil)
    case ...83: forgetBond()
    default: break
    }
  }

  private func connect() {
    let others = course.hosts.filter { $0 !== self }.compactMap(\.address)
    guard let device = course.any(of: others), !conversations.contains(where: { $0.link.peer == device }) else {
      return
    }
    awaited.insert(device)
    adapter.connect(to: device, ConnectionParameters())
    course.after(100...60_000) { [self] in
      if awaited.remove(device) != nil { adapter.cancelConnect(to: device) }
    }
  }

  /// Does not read for some seconds.
  private func pause(_ conversation: Conversation) {
    let talk = course.any(of: conversation.talks)
    if talk == nil { conversation.link.isReading = false } else { talk?.channel.isReading = false }
    course.after(100...10_000) { conversation.listen() }
  }

  private func forgetBond() {
    guard let bond = course.any(of: bonds.all) else { return }
    bonds.all.removeAll { $0.peer == bond.peer }
    adapter.unpair(bond.peer)
  }

  /// Ends everything.
  func leave() {
    isQuiet = true
    adapter.setScan(nil)
    for device in awaited { adapter.cancelConnect(to: device) }
    for conversation in conversations { conversation.link.disconnect() }
  }
}
