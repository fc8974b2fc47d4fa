using System.Collections.Frozen;
using Esb.Core.Parties;
using Esb.Endpoints.Http.Receiving;

namespace Esb.Endpoints.Http.Access;

/// <summary>The rights of a party at an endpoint.</summary>
/// <param name="MayCall">True if the party may use the endpoint.</param>
/// <param name="Limit">Its rate limit; null for none.</param>
internal sealed record CallerRights(bool MayCall, RateLimit? Limit)
{
    /// <summary>The rights of each party at an endpoint.</summary>
    public static FrozenDictionary<Party, CallerRights> At(ListeningEndpointConfig config, IEnumerable<Party> parties, TimeProvider time) =>
        parties.ToFrozenDictionary(party => party, party => new CallerRights(MayCallAt(config, party), LimitOf(config, time)));

    /// <summary>Creates the rate limit of an endpoint; null for none.</summary>
    public static RateLimit? LimitOf(ListeningEndpointConfig config, TimeProvider time) =>
        config.RateLimit is { } limit ? new RateLimit(limit, time) : null;

    private static bool MayCallAt(ListeningEndpointConfig config, Party party) =>
        (config.Parties.Count == 0 || config.Parties.Contains(party.Name))
        && (config.Publish is not { } subject || party.MayPublish(subject.Value));
}
