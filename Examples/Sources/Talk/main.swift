import Foundation

// Talk [NAME]: finds all others nearby that run it; lines from standard input are sent to them.
let talk = Talk(name: CommandLine.arguments.dropFirst().first ?? NSUserName())
talk.start()
Thread.detachNewThread {
  while let line = readLine() { talk.send(line) }
}
RunLoop.main.run()
