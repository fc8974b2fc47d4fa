namespace Esb.Endpoints.Files;

/// <summary>Claimed files that are tried again later, each after a pause that doubles. Thread-safe.</summary>
internal sealed class WaitingFiles(TimeProvider time)
{
    private const int LongestPauseSeconds = 30;

    private readonly Lock _gate = new();
    private readonly List<ClaimedFile> _files = [];

    /// <summary>How many wait.</summary>
    public int Count
    {
        get
        {
            lock (_gate) return _files.Count;
        }
    }

    /// <summary>Lets a file wait after one more failure.</summary>
    public void Add(ClaimedFile file)
    {
        var seconds = Math.Min(LongestPauseSeconds, 1 << Math.Min(file.Failures, 5));
        var due = time.GetTimestamp() + (seconds * time.TimestampFrequency);
        lock (_gate) _files.Add(file with { Failures = file.Failures + 1, NotBefore = due });
    }

    /// <summary>Takes out those that have waited long enough, in the order in which they came in.</summary>
    public IReadOnlyList<ClaimedFile> TakeDue()
    {
        var now = time.GetTimestamp();
        lock (_gate)
        {
            var due = _files.Where(file => file.NotBefore <= now).ToList();
            _files.RemoveAll(file => file.NotBefore <= now);
            return due;
        }
    }
}
