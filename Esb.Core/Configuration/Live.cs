namespace Esb.Core.Configuration;

/// <summary>What the revision in service has of a model or a service, for parts that live as long as the process. Thread-safe.</summary>
/// <remarks>Read <see cref="Current"/> once for each piece of work, so that it ends on the revision that it began with.</remarks>
/// <typeparam name="T">A model, or a service that lives as long as a revision.</typeparam>
public sealed class Live<T>
    where T : class
{
    private readonly IRevisions? _revisions;
    private volatile Held? _held;

    /// <summary>Follows the revisions of a process.</summary>
    public Live(IRevisions revisions)
    {
        _revisions = revisions;
        revisions.Exchanged += () => _held = null; // keeps nothing of an old one alive
    }

    private Live(T value) => _held = new Held(null, value);

    /// <summary>Of the revision in service.</summary>
    /// <exception cref="InvalidOperationException">Nothing of this type was registered.</exception>
    public T Current
    {
        get
        {
            var (held, revision) = (_held, _revisions?.Current);
            return held is not null && ReferenceEquals(held.Revision, revision) ? held.Value : Renew(revision!);
        }
    }

    /// <summary>One that never changes.</summary>
    public static implicit operator Live<T>(T value) => Always(value);

    /// <summary>One that never changes.</summary>
    public static Live<T> Always(T value) => new(value);

    private T Renew(Revision revision)
    {
        var value = revision.Services.GetService(typeof(T)) as T ?? throw new InvalidOperationException($"{typeof(T)} was not registered.");
        _held = new Held(revision, value);
        return value;
    }

    private sealed record Held(Revision? Revision, T Value);
}
