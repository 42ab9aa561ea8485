import Adapter
import Bluetooth
import Testing

@testable import Controllers

struct ControllerHealthTests {
  private typealias Action = ControllerHealth.Action

  /// Advances the clock; the deadlines on the way are kept.
  /// - Returns: the actions, each with its time in seconds.
  private func wait(_ seconds: Int, _ health: inout ControllerHealth, from start: Instant, hasLinks: Bool = false)
    -> [Int: Action]
  {
    var actions: [Int: Action] = [:]
    let end = start.advanced(by: .seconds(seconds))
    while let deadline = health.deadline, deadline <= end {
      guard let action = health.tick(hasLinks: hasLinks, at: deadline) else { continue }
      actions[Int(start.duration(to: deadline) / .seconds(1))] = action
    }
    return actions
  }

  /// A report is received each half a minute.
  /// - Returns: the time of the last.
  private func hear(_ health: inout ControllerHealth, from start: Instant, minutes: Int = 15) -> Instant {
    for half in 0...2 * minutes { health.heard(isExtended: false, at: start.advanced(by: .seconds(30 * half))) }
    return start.advanced(by: .seconds(60 * minutes))
  }

  @Test("A scan that falls silent is begun anew, then the adapter is opened anew, once in an hour (stack 2)")
  func silence() {
    var health = ControllerHealth()
    var now = Instant.zero
    health.scanning(true, at: now)
    now = hear(&health, from: now)
    #expect(wait(120, &health, from: now) == [60: .renew, 120: .reopen])
    now = now.advanced(by: .seconds(120))
    health.began()
    health.scanning(true, at: now)
    now = hear(&health, from: now)
    #expect(wait(900, &health, from: now) == [60: .renew, 120: .tell, 720: .renew])
    now = hear(&health, from: now.advanced(by: .seconds(3600)))
    #expect(wait(120, &health, from: now) == [60: .renew, 120: .reopen])
  }

  @Test func aPlaceWithoutDevicesIsNoFault() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    #expect(wait(1500, &health, from: .zero) == [60: .renew, 720: .renew, 1380: .renew])
  }

  @Test("Where little is heard silence is no fault (radio H5)")
  func aQuietPlace() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    health.heard(isExtended: false, at: .zero)
    #expect(wait(1500, &health, from: .zero) == [60: .renew, 720: .renew, 1380: .renew])
    // One report in an hour, and a device that passes.
    health.heard(isExtended: false, at: .zero.advanced(by: .seconds(3600)))
    let now = hear(&health, from: .zero.advanced(by: .seconds(7200)), minutes: 14)
    #expect(wait(600, &health, from: now) == [60: .renew])
  }

  @Test func linksAreASignOfHealth() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    let now = hear(&health, from: .zero)
    #expect(wait(200, &health, from: now, hasLinks: true) == [60: .renew])
  }

  @Test func reportsAndTheEndOfTheScanEndTheWait() {
    var health = ControllerHealth()
    health.heard(isExtended: false, at: .zero)
    #expect(health.deadline == nil, "it does not scan")
    health.scanning(true, at: .zero)
    let later = Instant.zero.advanced(by: .seconds(59))
    health.heard(isExtended: false, at: later)
    #expect(health.tick(hasLinks: false, at: .zero.advanced(by: .seconds(60))) == nil)
    #expect(health.deadline == later.advanced(by: .seconds(60)))
    health.scanning(false, at: later)
    #expect(health.deadline == nil)
  }

  /// A controller with an active scan by extended commands.
  private func extended() -> ControllerHealth {
    var health = ControllerHealth()
    health.began(scansExtended: true)
    health.scanning(true, at: .zero)
    return health
  }

  @Test("Extended scanning that hears nothing where the kernel finds devices is given up")
  func silentExtendedScan() {
    var health = extended()
    #expect(health.isSilent)
    health.kernelFound()
    let later = Instant.zero.advanced(by: .seconds(60))
    #expect(health.deadline == later && health.tick(hasLinks: false, at: later) == .giveUpExtendedScan)
    #expect(!health.isSilent, "told once")
  }

  @Test func anExtendedScanBesideLinksHasAnotherMinute() {
    var health = extended()
    health.kernelFound()
    #expect(wait(90, &health, from: .zero, hasLinks: true) == [60: .renew])
    #expect(wait(30, &health, from: .zero.advanced(by: .seconds(90))) == [30: .giveUpExtendedScan])
  }

  @Test func aTrainThatIsWantedKeepsNoBrokenExtendedScan() {
    var health = extended()
    health.kernelFound()
    let later = Instant.zero.advanced(by: .seconds(60))
    #expect(health.tick(hasLinks: false, hasTrains: true, at: later) == .giveUpExtendedScan)
  }

  @Test func besideTrainsNothingIsOpenedAnew() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    let now = hear(&health, from: .zero)
    #expect(health.tick(hasLinks: false, hasTrains: true, at: now.advanced(by: .seconds(60))) == .renew)
    #expect(health.tick(hasLinks: false, hasTrains: true, at: now.advanced(by: .seconds(120))) == nil)
  }

  @Test func anExtendedScanThatHearsSomethingIsKept() {
    var health = extended()
    health.heard(isExtended: true, at: .zero)
    health.kernelFound()
    #expect(!health.isSilent && wait(60, &health, from: .zero) == [60: .renew])
  }

  @Test func withoutTheKernelNothingIsKnownOfAnExtendedScan() {
    var health = extended()
    #expect(wait(600, &health, from: .zero) == [60: .renew])
    health.scanning(false, at: .zero)
    health.kernelFound()
    #expect(!health.isSilent && health.deadline == nil)
  }

  /// The same on our own host, without a kernel's findings.
  private func alone() -> ControllerHealth {
    var health = ControllerHealth()
    health.began(scansExtended: true, isHeardByKernel: false)
    health.scanning(true, at: .zero)
    return health
  }

  private func second(_ seconds: Int) -> Instant { .zero.advanced(by: .seconds(seconds)) }

  @Test("Without the kernel a silent extended scan is compared with one by legacy commands")
  func trial() {
    var health = alone()
    #expect(health.tick(hasLinks: false, at: second(60)) == .tryLegacyScan && health.isTrying)
    health.began()
    health.began(scansExtended: false, isHeardByKernel: false)
    health.scanning(true, at: second(61))
    #expect(health.isTrying)
    let isShown = health.heard(isExtended: false, at: second(70))
    #expect(!isShown && !health.isTrying, "a device may have arrived late")
    let isShownAgain = health.heard(isExtended: false, at: second(71))
    #expect(!isShownAgain)
  }

  /// A silent extended scan from `start` on, and a legacy one that receives a report a minute later.
  /// - Returns: true if the quirk is learned.
  private func trial(_ health: inout ControllerHealth, from start: Int) -> Bool {
    health.began(scansExtended: true, isHeardByKernel: false)
    health.scanning(true, at: second(start))
    #expect(health.tick(hasLinks: false, at: second(start + 60)) == .tryLegacyScan)
    health.ended()
    health.began(scansExtended: false, isHeardByKernel: false)
    health.scanning(true, at: second(start + 61))
    let isLearned = health.heard(isExtended: false, at: second(start + 70))
    health.ended()
    return isLearned
  }

  @Test("Three trials have to agree, without an extended report between them")
  func threeTrials() {
    var health = ControllerHealth()
    let allTrials = [0, 100, 200].map { trial(&health, from: $0) }
    #expect(allTrials == [false, false, true])
    health = ControllerHealth()
    let firstTrials = [0, 100].map { trial(&health, from: $0) }
    #expect(firstTrials == [false, false])
    health.began(scansExtended: true, isHeardByKernel: false)
    health.scanning(true, at: second(200))
    health.heard(isExtended: true, at: second(230))
    health.ended()
    let laterTrials = [300, 400, 500].map { trial(&health, from: $0) }
    #expect(laterTrials == [false, false, true])
  }

  @Test func aTrialWhoseScanStopsWaitsForTheNext() {
    var health = alone()
    #expect(health.tick(hasLinks: false, at: second(60)) == .tryLegacyScan)
    health.ended()
    health.began(scansExtended: false, isHeardByKernel: false)
    #expect(health.deadline == nil && health.isTrying, "its minute begins with the scan")
    health.scanning(true, at: second(61))
    health.scanning(false, at: second(70))
    #expect(health.deadline == nil && health.isTrying)
    health.scanning(true, at: second(200))
    #expect(health.tick(hasLinks: false, at: second(260)) == .endTrial)
  }

  @Test func aTrialWithoutAControllerIsOver() {
    var health = alone()
    #expect(health.tick(hasLinks: false, at: second(60)) == .tryLegacyScan)
    health.ended()
    #expect(health.deadline == second(120) && health.isTrying)
    #expect(health.tick(hasLinks: false, at: second(120)) == nil && !health.isTrying)
    health.began(scansExtended: true, isHeardByKernel: false)
    #expect(health.deadline == nil)
  }

  @Test(arguments: [(true, false, false), (false, true, false), (false, false, true)])
  func theEndOfATrialWaitsForAllThatItWouldEnd(_ links: Bool, _ trains: Bool, _ advertisements: Bool) {
    var health = alone()
    #expect(health.tick(hasLinks: false, at: second(60)) == .tryLegacyScan)
    health.ended()
    health.began(scansExtended: false, isHeardByKernel: false)
    health.scanning(true, at: second(61))
    let action = health.tick(
      hasLinks: links, hasTrains: trains, hasAdvertisements: advertisements, at: second(121))
    #expect(action == .renew && health.isTrying)
    #expect(health.tick(hasLinks: false, at: second(181)) == .endTrial)
  }

  @Test func aTrialNeedsAScanThatLegacyCommandsCanRun() {
    var health = alone()
    #expect(health.tick(hasLinks: false, allowsTrial: false, at: second(60)) == .renew)
    #expect(health.tick(hasLinks: false, at: second(120)) == .tryLegacyScan)
  }

  @Test func aTrialThatHearsNothingEitherShowsNothing() {
    var health = alone()
    #expect(health.tick(hasLinks: false, at: second(60)) == .tryLegacyScan)
    health.began(scansExtended: false, isHeardByKernel: false)
    health.scanning(true, at: second(61))
    #expect(health.tick(hasLinks: false, at: second(121)) == .endTrial && !health.isTrying)
    health.began(scansExtended: true, isHeardByKernel: false)
    health.scanning(true, at: second(122))
    // There is no other for an hour.
    #expect(wait(3400, &health, from: second(122)).values.allSatisfy { $0 == .renew })
    #expect(wait(240, &health, from: second(3522)).values.contains(.tryLegacyScan))
  }

  @Test(arguments: [(true, false, false), (false, true, false), (false, false, true)])
  func aTrialWaitsForAllThatItWouldEnd(_ links: Bool, _ trains: Bool, _ advertisements: Bool) {
    var health = alone()
    let action = health.tick(
      hasLinks: links, hasTrains: trains, hasAdvertisements: advertisements, at: second(60))
    #expect(action == .renew && !health.isTrying)
    #expect(health.tick(hasLinks: false, at: second(120)) == .tryLegacyScan)
  }

  @Test func theTimesSinceItWasHeardAreToldWhileItIsUsed() {
    var health = alone()
    #expect(health.silence(at: second(5)) == ControllerSilence())
    health.received(at: second(6))
    health.heard(isExtended: true, at: second(8))
    health.received(at: second(9))
    #expect(health.silence(at: second(10)) == ControllerSilence(report: .seconds(2), event: .seconds(1)))
    health.began()
    #expect(health.silence(at: second(11)) == ControllerSilence())
  }
}
