using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Delivery.Control;

/// <summary>The tuned settings as this host knows them, kept in the store; changes made while it is away are kept once it is back.
/// Thread-safe.</summary>
/// <remarks>Where the store is shared, a copy in the folder of the host serves a start while the store is away.</remarks>
internal sealed class TuningBook(ITuningStore store, ITuningCopy copy)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<(string Endpoint, string Setting), TunedSetting> _settings = [];
    private readonly HashSet<(string Endpoint, string Setting)> _unkept = [];
    private long _changes;

    /// <summary>Grows with each change made on this host: what was read from the store before one is out of date.</summary>
    public long Changes
    {
        get
        {
            lock (_lock)
                return _changes;
        }
    }

    /// <summary>All tuned settings.</summary>
    public IReadOnlyList<TunedSetting> All
    {
        get
        {
            lock (_lock)
                return
                [
                    .. _settings
                        .Values.OrderBy(one => one.Endpoint, StringComparer.Ordinal)
                        .ThenBy(one => one.Setting, StringComparer.Ordinal),
                ];
        }
    }

    /// <summary>Endpoints whose changes are not in the store yet.</summary>
    public IReadOnlyList<string> Unkept
    {
        get
        {
            lock (_lock)
                return [.. _unkept.Select(one => one.Endpoint).Distinct().Order(StringComparer.Ordinal)];
        }
    }

    /// <summary>The tuned settings of an endpoint.</summary>
    public EndpointTuning Of(string endpoint) =>
        TuningValues.Read(SettingsOf(endpoint).Select(one => KeyValuePair.Create(one.Setting, one.Value)));

    /// <summary>Replaces all settings by those of the store, unless this host changed one since they were read, or has some that the store
    /// lacks.</summary>
    /// <param name="settings">What was read.</param>
    /// <param name="asOf"><see cref="Changes"/> before it was read.</param>
    /// <returns>The endpoints whose settings changed.</returns>
    public IReadOnlyList<string> Load(IEnumerable<TunedSetting> settings, long asOf)
    {
        lock (_lock)
        {
            if (_changes != asOf || _unkept.Count > 0)
                return [];
            var before = _settings.Values.Select(one => (one.Endpoint, one.Setting, one.Value)).ToHashSet();
            _settings.Clear();
            foreach (var one in settings)
                _settings[(one.Endpoint, one.Setting)] = one;
            before.SymmetricExceptWith(_settings.Values.Select(one => (one.Endpoint, one.Setting, one.Value)));
            if (before.Count > 0)
                copy.Write([.. _settings.Values]);
            return [.. before.Select(one => one.Endpoint).Distinct()];
        }
    }

    /// <summary>Sets the settings of an endpoint to <paramref name="wanted"/>, and keeps what changes.</summary>
    public Task SetAsync(string endpoint, IReadOnlyCollection<TunedSetting> wanted, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            _changes++;
            foreach (var gone in SettingsOf(endpoint).Where(one => wanted.All(other => other.Setting != one.Setting)))
            {
                _settings.Remove((endpoint, gone.Setting));
                _unkept.Add((endpoint, gone.Setting));
            }

            foreach (var one in wanted.Where(one => _settings.GetValueOrDefault((endpoint, one.Setting)) != one))
            {
                _settings[(endpoint, one.Setting)] = one;
                _unkept.Add((endpoint, one.Setting));
            }

            copy.Write([.. _settings.Values]);
        }

        return KeepAsync(cancellationToken);
    }

    /// <summary>Tries to keep what is not in the store yet.</summary>
    /// <returns>True if all is kept.</returns>
    public async Task<bool> KeepAsync(CancellationToken cancellationToken)
    {
        List<((string Endpoint, string Setting) Key, TunedSetting? Value)> unkept;
        lock (_lock)
            unkept = [.. _unkept.Select(key => (key, _settings.GetValueOrDefault(key)))];
        try
        {
            foreach (var (key, value) in unkept)
            {
                if (value is null)
                    await store.RemoveAsync(key.Endpoint, key.Setting, cancellationToken);
                else
                    await store.SetAsync([value], cancellationToken);
                lock (_lock)
                {
                    if (_settings.GetValueOrDefault(key) == value)
                        _unkept.Remove(key);
                }
            }

            return Unkept.Count == 0;
        }
        catch (EsbException)
        {
            // a pause must be possible while the store is away: a notice says that it is not kept, and the next attempt follows
            return false;
        }
    }

    private List<TunedSetting> SettingsOf(string endpoint)
    {
        lock (_lock)
            return [.. _settings.Values.Where(one => one.Endpoint == endpoint)];
    }
}
