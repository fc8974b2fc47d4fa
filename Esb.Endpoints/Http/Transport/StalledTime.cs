using System.Buffers.Text;
using System.Runtime;
using Microsoft.Win32.SafeHandles;

namespace Esb.Endpoints.Http.Transport;

/// <summary>How long the thread that made it has stood still for reasons that no code on it can help: no processor was free
/// (<c>/proc/PID/task/TID/schedstat</c>), garbage was collected, or a method was compiled. For that thread.</summary>
internal sealed class StalledTime
{
    private readonly SafeFileHandle? _scheduling = Open();

    /// <summary>The time so far.</summary>
    public TimeSpan Read() => WaitForProcessor() + GC.GetTotalPauseDuration() + JitInfo.GetCompilationTime(currentThread: true);

    private static SafeFileHandle? Open()
    {
        try
        {
            return File.OpenHandle("/proc/thread-self/schedstat");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return null; // this kernel does not tell
        }
    }

    // "nanoseconds on a processor, nanoseconds of waiting for one, number of times"
    private TimeSpan WaitForProcessor()
    {
        if (_scheduling is null)
            return TimeSpan.Zero;
        Span<byte> line = stackalloc byte[80];
        line = line[..RandomAccess.Read(_scheduling, line, fileOffset: 0)];
        line = line[(line.IndexOf((byte)' ') + 1)..];
        return Utf8Parser.TryParse(line, out long nanoseconds, out _) ? TimeSpan.FromTicks(nanoseconds / 100) : TimeSpan.Zero;
    }
}
