using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration.Revisions;

/// <summary>The live revisions of this process: the one in service, the one being prepared, and those with in-flight work.
/// Thread-safe.</summary>
/// <param name="scopes">Creates the services of a revision.</param>
/// <param name="first">The model that the process started with.</param>
public sealed class LiveRevisions(IServiceScopeFactory scopes, BusModel first) : IRevisions, IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<Revision, IServiceScope> _alive = [];
    private readonly List<IServiceScope> _kept = [];
    private volatile Revision? _current;
    private int _count;

    /// <inheritdoc/>
    public event Action? Exchanged;

    /// <inheritdoc/>
    public Revision Current => _current ?? Begin();

    /// <summary>The number of live revisions, including the one in service.</summary>
    public int Alive
    {
        get
        {
            lock (_gate)
                return _alive.Count;
        }
    }

    /// <summary>Creates a revision that is not in service yet.</summary>
    public Revision Add(BusModel model)
    {
        lock (_gate)
            return AddLocked(model);
    }

    /// <summary>Creates a revision that is never in service: what began with it ends with it. It lives as long as the process.</summary>
    public Revision Keep(BusModel model)
    {
        lock (_gate)
        {
            var revision = AddLocked(model);
            _alive.Remove(revision, out var scope);
            _kept.Add(scope!);
            return revision;
        }
    }

    /// <summary>Puts a revision in service.</summary>
    public void Exchange(Revision next)
    {
        _current = next;
        Exchanged?.Invoke();
    }

    /// <summary>Releases a revision that has no in-flight work any more.</summary>
    public async ValueTask RemoveAsync(Revision revision)
    {
        IServiceScope? scope;
        lock (_gate)
            _alive.Remove(revision, out scope);
        if (scope is not null)
            await DisposeAsync(scope);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        List<IServiceScope> left;
        lock (_gate)
        {
            left = [.. _alive.Values, .. _kept];
            _kept.Clear();
            _alive.Clear();
        }

        foreach (var scope in left)
            await DisposeAsync(scope);
    }

    private static ValueTask DisposeAsync(IServiceScope scope) => ((IAsyncDisposable)scope).DisposeAsync();

    private Revision Begin()
    {
        lock (_gate)
            return _current ??= AddLocked(first);
    }

    private Revision AddLocked(BusModel model)
    {
        var scope = scopes.CreateScope();
        scope.ServiceProvider.GetRequiredService<RevisionScope>().Model = model;
        var revision = new Revision(++_count, scope.ServiceProvider);
        _alive[revision] = scope;
        return revision;
    }
}
