namespace Esb.Host.Lifecycle;

/// <summary>Where a host stands between start and stop. Thread-safe.</summary>
internal sealed class HostState
{
    private volatile bool _started;
    private volatile bool _stopping;
    private volatile string? _failure;

    /// <summary>Why nothing can be taken in now, whatever the parts say; null when they decide.</summary>
    public string? Obstacle => _stopping ? "stopping" : !_started ? "starting" : _failure;

    public void Started() => _started = true;

    public void Stopping() => _stopping = true;

    /// <summary>Something that every message needs did not start.</summary>
    public void Failed(string what) => _failure = what;
}
