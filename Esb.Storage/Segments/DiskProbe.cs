using Esb.Core.Storage;

namespace Esb.Storage.Segments;

/// <summary>Tells whether a folder can be written: remembers that it could not, finds out when it can be again, and looks how much space is
/// left. Thread-safe.</summary>
internal sealed class DiskProbe(string folder)
{
    private const int ProbeBytes = 64 * 1024; // a few blocks: what a small group of records needs

    // What is left then is for what is under way. A small volume counts as full once four fifths of it are used.
    private const long ReservedBytes = 32 << 20;
    private const int ReservedShare = 5;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);

    private readonly Lock _lock = new();
    private bool _failed;
    private long _probedAt;

    public void Succeeded()
    {
        if (Volatile.Read(ref _failed))
            Volatile.Write(ref _failed, false);
    }

    public void Failed()
    {
        lock (_lock)
        {
            _failed = true;
            _probedAt = Environment.TickCount64;
        }
    }

    /// <summary>Null while the folder can be written, and will be. After a failure it writes and flushes a small file of its own, every 2 s
    /// at most.</summary>
    public string? FindTrouble()
    {
        if (!Volatile.Read(ref _failed))
            return FindLackOfSpace();
        lock (_lock)
        {
            if (_failed && Environment.TickCount64 - _probedAt >= Interval.TotalMilliseconds)
            {
                _failed = !TryWrite();
                _probedAt = Environment.TickCount64;
            }

            return _failed ? "the disk cannot be written" : null;
        }
    }

    private string? FindLackOfSpace()
    {
        try
        {
            var volume = new DriveInfo(folder);
            var left = volume.AvailableFreeSpace;
            return left < Math.Min(ReservedBytes, volume.TotalSize / ReservedShare) ? $"the disk is full but for {left / 1024} KiB" : null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return "the disk cannot be read"; // the folder is gone, or its volume
        }
    }

    private bool TryWrite()
    {
        try
        {
            using var file = OwnerFile.Open(Path.Combine(folder, "probe.tmp"), FileMode.Create, options: FileOptions.DeleteOnClose);
            file.Write(new byte[ProbeBytes]);
            file.Flush(flushToDisk: true);
            return true;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }
}
