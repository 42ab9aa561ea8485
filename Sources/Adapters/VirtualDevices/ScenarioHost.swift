import Adapter
import Bluetooth
import BluetoothCrypto
import Controllers
import Host
import Logging
import Scenarios
import VirtualController

/// The lower half of a device or a phone: a host of our own on a controller of the air, and its person in pairings.
///
/// | Input                     | Then                                                                 |
/// |---------------------------|----------------------------------------------------------------------|
/// | `setPower(true)`          | the controller is plugged in, and its host starts it, in its turn    |
/// | `setPower(false)`         | the controller is unplugged: its link ends here, and there by timeout |
/// | a link                    | `onLink`, which has to set the link's handler                        |
/// | a question of a pairing   | answered as described, after the person's time                       |
/// | a bond                    | kept                                                                 |
/// | the link's end            | the keys are lost if so described; `onEnd`                           |
final class ScenarioHost {
  let name: String
  let controller: VirtualController
  let adapter: HostAdapter
  let bonds = KeptBonds()
  /// The pairing description; nil if it does not pair.
  var pairing: PairingDescription? { didSet { setPairing() } }
  /// Called with a new link.
  var onLink: ((any Link) -> Void)?
  /// Called with each event of the link, after its handler.
  var onLinkEvent: ((LinkEvent) -> Void)?
  var onReport: ((AdvertisingReport) -> Void)?
  /// Called when it has bonded with the other side of its link.
  var onBonded: (() -> Void)?
  /// Called when the link has ended.
  var onEnd: (() -> Void)?
  /// The only link; nil without one.
  private(set) var link: (any Link)?

  private let address: DeviceAddress
  private let context: SimulationContext
  private unowned let world: VirtualAir
  /// The key that resolves its private addresses; nil if it has none.
  private let identityResolvingKey: Key128?
  /// Its key for signatures, which identifies its bonds of earlier runs.
  private let signature: Key128
  private var generator: SeededGenerator
  /// The passkey that the other side of the link shows.
  private var seen: UInt32?
  /// The question for a passkey that the person has not seen yet.
  private var typing: QuestionID?
  private var isPowered = false
  private var hasStarted = false

  /// - Parameter privateAddress: the lifetime of a private address; nil to show its own.
  init(
    _ model: ControllerModel, name: String, address: DeviceAddress, pairing: PairingDescription?,
    privateAddress: Duration?, on world: VirtualAir
  ) {
    (self.name, self.address, self.world, self.pairing) = (name, address, world, pairing)
    context = world.context
    generator = context.generator(Stream.pairing.of(address))
    signature = world.keys.key("signature", [address])
    controller = VirtualController(model, on: world.air)
    adapter = HostAdapter(
      .virtual(name), by: VirtualTransports(to: controller), spare: address, scheduler: world.context.scheduler,
      logger: world.quiet)
    adapter.random = context.generator(Stream.secrets.of(address))
    adapter.setBonds(bonds)
    let privacy = privateAddress.map {
      PrivacySettings(root: world.keys.key("privacy", [address]).littleEndian, rotation: $0)
    }
    adapter.setPrivacy(privacy)
    identityResolvingKey = privacy?.identityResolvingKey(of: address).flatMap { Key128(littleEndian: $0) }
    bonds.earlier = { [weak self] in self?.earlierBonds ?? [] }
    adapter.changeTerms = { [weak self] in self?.change(&$0) }
    adapter.onEvent = { [weak self] in self?.handle($0) }
    setPairing()
  }

  func setPower(_ isOn: Bool) {
    guard isOn != isPowered else { return }
    isPowered = isOn
    controller.isPlugged = isOn
    guard !hasStarted else { return adapter.setPower(isOn) { _ in } }
    if isOn { world.startLater { [weak self] in self?.start() } }
  }

  private func start() {
    guard isPowered, !hasStarted else { return }
    hasStarted = true
    adapter.start()
  }

  /// The identity of the link's other side, if it has a key for it.
  var bondedPeer: DeviceAddress? { link.flatMap { bonds.identity(of: $0.peer) } }
  /// True if it has a key for the link.
  var isBonded: Bool { bondedPeer != nil }

  /// True for an address that it shows.
  func shows(_ address: DeviceAddress) -> Bool {
    address == self.address || identityResolvingKey.map { address.isResolved(by: $0) } == true
  }

  private var earlierBonds: [Bond] {
    guard let pairing, !pairing.losesKeys else { return [] }
    return world.adapters.flatMap { $0.bonds(of: address, signature) }
  }

  /// Requests the security that its person can give.
  func requestSecurity() {
    guard let link, let pairing else { return }
    guard !isBonded else { return link.encrypt(to: 2) { _ in } }
    link.raiseSecurity(
      to: pairing.capability == .none ? 2 : 3, as: pairing.capability, usesOwnData: false
    ) { _ in }
  }

  // MARK: - Events

  private func handle(_ event: AdapterEvent) {
    switch event {
    case .connected(let link): began(link)
    case .report(let report): onReport?(report)
    case .pairing(_, .question(let id, let question)): ask(id, question)
    case .pairing(_, .bonded(let bond)):
      bonds.keep(bond)
      adapter.bondsAdded()
      onBonded?()
    default: break
    }
  }

  private func began(_ link: any Link) {
    self.link = link
    onLink?(link)
    let serve = link.onEvent
    link.onEvent = { [weak self] event in
      serve?(event)
      guard let self else { return }
      onLinkEvent?(event)
      guard case .ended = event else { return }
      (self.link, seen, typing) = (nil, nil, nil)
      if pairing?.losesKeys == true { bonds.forget() }
      onEnd?()
    }
  }

  // MARK: - Pairing

  private func setPairing() {
    adapter.setPairing(
      PairingSettings(capability: pairing?.capability ?? .none, acceptsDevices: pairing != nil))
  }

  private func change(_ terms: inout PairingTerms) {
    guard let pairing else { return }
    terms.bonds = pairing.bonds
    terms.hasSecureConnections = pairing.hasSecureConnections
    terms.maximumKeySize = pairing.keySize
    terms.secrets.signatureKey = signature
    terms.secrets.passkey = pairing.passkey ?? PairingDescription.standardPasskey
  }

  private func ask(_ id: QuestionID, _ question: PairingQuestion) {
    guard let pairing, pairing.answer != .never else { return }
    context.scheduler.schedule(after: pairing.answerDelay.draw(&generator)) { [weak self] in
      self?.answer(id, question)
    }
  }

  private func answer(_ id: QuestionID, _ question: PairingQuestion) {
    guard let pairing else { return }
    switch (pairing.answer, question) {
    case (.refuse, _): adapter.answer(id, .refuse)
    case (_, .consent), (_, .comparison): adapter.answer(id, .accept)
    case (_, .passkey):
      if let passkey = pairing.passkey ?? seen { return type(passkey, id) }
      typing = id
      context.scheduler.schedule(after: Self.look) { [weak self] in
        if self?.typing == id { self?.type(PairingDescription.standardPasskey, id) }
      }
    }
  }

  /// The time that its person takes to look for a passkey on the other side.
  private static let look = Duration.seconds(1)

  /// The person sees this passkey on the other side.
  func see(_ passkey: UInt32) {
    guard link != nil else { return }
    seen = passkey
    if let typing { type(passkey, typing) }
  }

  /// The passkey of another pairing is another one.
  private func type(_ passkey: UInt32, _ id: QuestionID) {
    (seen, typing) = (nil, nil)
    adapter.answer(id, .passkey(passkey))
  }
}
