import Adapter
import Bluetooth
import Controllers
import Host
import Logging
import Scenarios
import VirtualController

/// The lower half of a device or a phone: a host of our own on a controller of the air, and its person in pairings.
///
/// | Input                     | Then                                                                 |
/// |---------------------------|----------------------------------------------------------------------|
/// | `setPower(true)`          | the controller is plugged in, and its host starts it                 |
/// | `setPower(false)`         | the controller is unplugged: its link ends here, and there by timeout |
/// | a link                    | `onLink`, which has to set the link's handler                        |
/// | a question of a pairing   | answered as described, after the person's time                       |
/// | a bond                    | kept                                                                 |
/// | the link's end            | the keys are lost if so described; `onEnd`                           |
final class ScenarioHost {
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

  private let context: SimulationContext
  private unowned let world: VirtualAir
  private var generator: SeededGenerator
  private var isPowered = false
  private var hasStarted = false

  /// - Parameter privateAddress: the lifetime of a private address; nil to show its own.
  init(
    _ model: ControllerModel, name: String, address: DeviceAddress, pairing: PairingDescription?,
    privateAddress: Duration?, on world: VirtualAir
  ) {
    (self.world, self.pairing) = (world, pairing)
    context = world.context
    generator = context.generator(Stream.pairing.of(address))
    controller = VirtualController(model, on: world.air)
    adapter = HostAdapter(
      .virtual(name), by: VirtualTransports(to: controller), spare: address, scheduler: world.context.scheduler,
      logger: world.quiet)
    adapter.setBonds(bonds)
    if let privateAddress {
      var keys = context.generator(Stream.privacy.of(address))
      let root = (0..<16).map { _ in UInt8(truncatingIfNeeded: keys.next()) }
      adapter.setPrivacy(PrivacySettings(root: root, rotation: privateAddress))
    }
    adapter.changeTerms = { [weak self] in self?.change(&$0) }
    adapter.onEvent = { [weak self] in self?.handle($0) }
    setPairing()
  }

  func setPower(_ isOn: Bool) {
    guard isOn != isPowered else { return }
    isPowered = isOn
    controller.isPlugged = isOn
    adapter.setPower(isOn) { _ in }
    guard isOn, !hasStarted else { return }
    hasStarted = true
    adapter.start()
  }

  /// True if it has a key for the link.
  var isBonded: Bool { link.map { bonds.knows($0.peer) } ?? false }

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
      self.link = nil
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
    terms.maximumKeySize = max(pairing.keySize, terms.minimumKeySize)
    terms.secrets.passkey = pairing.passkey ?? PairingDescription.standardPasskey
  }

  private func ask(_ id: QuestionID, _ question: PairingQuestion) {
    guard let pairing, pairing.answer != .never else { return }
    let answer: PairingAnswer
    switch (pairing.answer, question) {
    case (.refuse, _): answer = .refuse
    case (_, .consent), (_, .comparison): answer = .accept
    case (_, .passkey): answer = .passkey(pairing.passkey ?? world.passkey)
    }
    context.scheduler.schedule(after: pairing.answerDelay.draw(&generator)) { [weak self] in
      self?.adapter.answer(id, answer)
    }
  }
}
