import BledRPC
import Testing

/// A suite with calls made by one client, by default.
protocol OneClientSuite {
  var world: World { get }
  var client: TestClient { get }
}

extension OneClientSuite {
  /// The result of a call, when all that it causes has happened.
  func done<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params, by client: TestClient? = nil
  ) throws -> Method.Result {
    let client = client ?? self.client
    let call = try client.call(method, params)
    world.settle()
    return try #require(try client.answer(to: call, method), "\(Method.name) was not answered").get()
  }

  /// The error of a call, when all that it causes has happened.
  func refusal<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> RPCError {
    let call = try client.call(method, params)
    world.settle()
    return try #require(try client.error(of: call, method), "\(Method.name) was not refused")
  }
}
