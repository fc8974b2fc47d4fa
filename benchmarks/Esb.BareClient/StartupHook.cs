using System.Diagnostics;
using System.Globalization;

/// <summary>Notes every 100 ms what a process has used up so far, in the file that <c>COST_FILE</c> names: milliseconds of CPU, then bytes
/// allocated.</summary>
/// <remarks>Any .NET program loads it with <c>DOTNET_STARTUP_HOOKS</c>; the runtime wants this name, outside of a namespace. Used by
/// loadtests/topics.</remarks>
internal static class StartupHook
{
    private static Timer? _timer;

    public static void Initialize()
    {
        if (Environment.GetEnvironmentVariable("COST_FILE") is not { } path)
            return;
        var process = Process.GetCurrentProcess();
        _timer = new Timer(_ => Note(process, path));
        _timer.Change(0, Timeout.Infinite);
    }

    private static void Note(Process process, string path)
    {
        process.Refresh();
        var line = string.Create(
            CultureInfo.InvariantCulture,
            $"{process.TotalProcessorTime.TotalMilliseconds:0} {GC.GetTotalAllocatedBytes()}\n"
        );
        File.WriteAllText(path + ".part", line);
        File.Move(path + ".part", path, overwrite: true);
        _timer!.Change(100, Timeout.Infinite); // one at a time, however busy the machine is
    }
}
