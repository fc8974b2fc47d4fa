using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Parties;
using Esb.Delivery.Intake;
using Esb.Endpoints.Http.Access.Signatures;
using Esb.Endpoints.Http.Receiving;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Access;

/// <summary>Creates the access checks of endpoints that restrict their callers.</summary>
internal sealed class AccessFactory(
    IReadOnlyDictionary<string, PartyConfig> parties,
    PartyDirectory directory,
    PartyCredentials credentials,
    IntakeStates states,
    GuessBrake guesses,
    TimeProvider time,
    ILoggerFactory loggers
)
{
    /// <summary>Creates the access check of an endpoint; null if anyone may call it without a rate limit.</summary>
    public EndpointAccess? Create(ListeningEndpointConfig config, IMessageIntake intake)
    {
        if (config.Authentication.Count == 0 && config.RateLimit is null)
            return null;
        var checks = config
            .Authentication.Where(kind => !IsInBody(kind))
            .Distinct()
            .Select(kind => credentials.CheckOf(kind, config.ApiKeyHeader));
        var rights = CallerRights.At(config, Parties(), time);
        var anybody = config.Authentication.Count == 0 ? CallerRights.LimitOf(config, time) : null;
        var calls = new DeniedCalls(config.Name, time, loggers.CreateLogger<DeniedCalls>());
        return new EndpointAccess(config, [.. checks], rights, anybody, intake, states.Of(config.Name), calls, guesses, time);
    }

    /// <summary>Wraps the exchange of an endpoint in the signature check, if the endpoint demands signatures.</summary>
    /// <param name="config">The endpoint.</param>
    /// <param name="exchange">The exchange to wrap.</param>
    /// <param name="access">The access check of the endpoint.</param>
    /// <param name="maxBodyBytes">The maximum size of a signed body, in bytes.</param>
    public IHttpExchange Guard(ListeningEndpointConfig config, IHttpExchange exchange, EndpointAccess? access, long maxBodyBytes) =>
        access is not null && config.Authentication.Contains(CredentialKind.Signature)
            ? new SignedExchange(exchange, new SignatureCheck(config.Signature, KeysOf(config), time), access, maxBodyBytes)
            : exchange;

    /// <summary>The passwords of the parties, by user.</summary>
    public IReadOnlyDictionary<string, PartyPasswords> Passwords() => credentials.Passwords();

    /// <summary>True if a credential stands in the body, which is read for it.</summary>
    public static bool IsInBody(CredentialKind kind) => kind is CredentialKind.Signature or CredentialKind.UsernameToken;

    // Skips the keys of parties that may not call: each key costs a pass over the body.
    private IEnumerable<(Party Party, byte[] Key)> KeysOf(ListeningEndpointConfig config) =>
        credentials.SignatureKeys().Where(one => config.Parties.Count == 0 || config.Parties.Contains(one.Party.Name));

    private IEnumerable<Party> Parties()
    {
        foreach (var name in parties.Keys)
        {
            if (directory.TryFind(name, out var party))
                yield return party;
        }
    }
}
