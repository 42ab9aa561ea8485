import Foundation

// Chat host|join [NAME]: opens a chat, or joins one; lines from standard input are sent.
let arguments = Array(CommandLine.arguments.dropFirst())
let name = arguments.dropFirst().first ?? NSUserName()
let partner: any ChatPartner
switch arguments.first {
case "host": partner = ChatHost(name: name)
case "join": partner = ChatGuest(name: name)
default:
  print("usage: Chat host|join [NAME]")
  exit(64)
}
partner.start()
Thread.detachNewThread {
  while let line = readLine() {
    DispatchQueue.main.async { partner.send(line) }
  }
}
RunLoop.main.run()
