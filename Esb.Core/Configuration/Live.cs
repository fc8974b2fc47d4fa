namespace Esb.Core.Configuration;

/// <summary>A model or service of the active revision, for parts that live as long as the process. Thread-safe.</summary>
/// <remarks>Read <see cref="Current"/> once for each unit of work, so that it ends on the revision on which it began.</remarks>
/// <typeparam name="T">A model, or a service that lives as long as a revision.</typeparam>
public sealed class Live<T>
    where T : class
{
    private readonly IRevisions? _revisions;
    private volatile Held? _held;

    /// <summary>Follows the active revision of a process.</summary>
    public Live(IRevisions revisions)
    {
        _revisions = revisions;
        revisions.Exchanged += () => _held = null; // releases the old revision
    }

    private Live(T value) => _held = new Held(null, value);

    /// <summary>The instance of the active revision.</summary>
    /// <exception cref="InvalidOperationException">Nothing of this type was registered.</exception>
    public T Current
    {
        get
        {
            var (held, revision) = (_held, _revisions?.Current);
            return held is not null && ReferenceEquals(held.Revision, revision) ? held.Value : Renew(revision!);
        }
    }

    /// <summary>Wraps a value that never changes.</summary>
    public static implicit operator Live<T>(T value) => Always(value);

    /// <summary>Wraps a value that never changes.</summary>
    public static Live<T> Always(T value) => new(value);

    private T Renew(Revision revision)
    {
        var value = revision.Services.GetService(typeof(T)) as T ?? throw new InvalidOperationException($"{typeof(T)} was not registered.");
        _held = new Held(revision, value);
        return value;
    }

    private sealed record Held(Revision? Revision, T Value);
}
