import Adapter
import Bluetooth
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// The power of a simulated adapter, without an air.
@Suite struct SimulatedPowerTests {
  private final class Answers {
    var names: [String] = []
  }

  private let answers = Answers()

  private func started() -> SimulatedPower {
    var power = SimulatedPower()
    power.start()
    return power
  }

  /// Records the name of the error, or "done".
  private func set(_ isOn: Bool, _ power: inout SimulatedPower) {
    power.set(isOn) { [answers] error in answers.names.append(error?.name ?? "done") }
  }

  private func answer(_ power: inout SimulatedPower, in state: AdapterState) -> [String] {
    answers.names = []
    for answer in power.answers(in: state) { answer() }
    return answers.names
  }

  private let problem = AdapterProblem(kind: .hardware, message: "the controller does not respond", remedy: "wait")

  @Test("The wanted state follows the owner, the plug and the fault, the plug first")
  func wanted() {
    var power = SimulatedPower()
    #expect(power.wanted == .absent)
    power.start()
    #expect(power.wanted == .on && power.isSound)
    set(false, &power)
    #expect(power.wanted == .off)
    power.problem = problem
    #expect(power.wanted == .failed(problem) && !power.isSound)
    power.isPresent = false
    #expect(power.wanted == .absent && !power.isSound)
  }

  @Test("A call that switches on waits while the adapter starts; each call is answered once, in its order")
  func switchedOn() {
    var power = started()
    set(false, &power)
    set(true, &power)
    #expect(answer(&power, in: .starting) == ["cancelled"])
    #expect(answer(&power, in: .on) == ["done"])
    #expect(answer(&power, in: .on) == [])
  }

  @Test("A controller that is away or at fault is the answer")
  func impossible() {
    var power = started()
    for (state, name) in [(AdapterState.absent, "adapterAbsent"), (.failed(problem), "adapterFailed")] {
      set(true, &power)
      #expect(answer(&power, in: state) == [name])
    }
  }

  @Test("Calls of stop are answered together, once")
  func stopped() {
    var power = started()
    for _ in 0..<2 { power.stop { [answers] in answers.names.append("stopped") } }
    #expect(!power.isStarted && power.wanted == .absent)
    for answer in power.stopAnswers() { answer() }
    #expect(answers.names == ["stopped", "stopped"] && power.stopAnswers().isEmpty)
  }
}
