using System.Globalization;
using System.Net.Sockets;
using System.Runtime;

/// <summary>
/// Runs inside a measured .NET process, before its <c>Main</c>: whoever connects to the socket that <c>SIDEBYSIDE_PROBE</c>
/// names is told how many bytes the process has allocated so far, and how its garbage collector is set.
/// </summary>
/// <remarks>The runtime finds it by <c>DOTNET_STARTUP_HOOKS</c>; that is why it has no namespace. The program measured knows nothing of
/// it.</remarks>
internal static class StartupHook
{
    public static void Initialize()
    {
        if (Environment.GetEnvironmentVariable("SIDEBYSIDE_PROBE") is not { Length: > 0 } path)
            return;
        var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        new Thread(() => Answer(listener)) { IsBackground = true, Name = "side by side probe" }.Start();
    }

    private static void Answer(Socket listener)
    {
        while (true)
        {
            using var caller = listener.Accept();
            var mode = GCSettings.IsServerGC ? "server" : "workstation";
            var line = string.Create(CultureInfo.InvariantCulture, $"{GC.GetTotalAllocatedBytes()} {mode} {GCSettings.LatencyMode}\n");
            caller.Send(System.Text.Encoding.ASCII.GetBytes(line));
        }
    }
}
