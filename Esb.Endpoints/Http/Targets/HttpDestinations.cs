using System.Collections.Frozen;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Targets;

/// <summary>The addresses of an http-outbound endpoint: its own, or one of its targets, named by a call. Thread-safe.</summary>
/// <remarks>Pattern: Dynamic Router with prepared ports. Each destination is built once; a change of the targets file rebuilds the changed
/// ones.</remarks>
internal sealed class HttpDestinations(HttpOutboundConfig config, LiveSettings<HttpTargetConfig>? live)
{
    private readonly HttpDestination _own = new(config.Addresses[0], config.Method);
    private volatile Table _table = new(new Dictionary<string, HttpTargetConfig>(), FrozenDictionary<string, HttpDestination>.Empty);

    /// <summary>Returns the destination that a call names; the endpoint's own if it names none.</summary>
    /// <exception cref="EsbException"><c>ESB-CALL-TARGET</c>: the target does not exist.</exception>
    public HttpDestination Of(string? target)
    {
        if (target is null)
            return _own;
        var settings = live?.Current ?? config.Targets;
        var table = _table;
        if (!ReferenceEquals(table.Settings, settings))
            _table = table = Build(settings, table.Built);
        return table.Built.TryGetValue(target, out var destination)
            ? destination
            : throw new EsbException(
                "ESB-CALL-TARGET",
                $"The endpoint '{config.Name}' has no target '{Clipped.Name(target)}'.",
                FaultKind.Invalid
            );
    }

    private Table Build(IReadOnlyDictionary<string, HttpTargetConfig> settings, FrozenDictionary<string, HttpDestination> known) =>
        new(
            settings,
            settings.ToFrozenDictionary(
                target => target.Key,
                target =>
                {
                    var method = target.Value.Method ?? config.Method;
                    return known.TryGetValue(target.Key, out var built) && built.IsMadeOf(target.Value.Url, method)
                        ? built
                        : new HttpDestination(target.Value.Url, method);
                }
            )
        );

    private sealed record Table(IReadOnlyDictionary<string, HttpTargetConfig> Settings, FrozenDictionary<string, HttpDestination> Built);
}
