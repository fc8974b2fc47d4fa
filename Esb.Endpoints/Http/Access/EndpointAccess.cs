using System.Collections.Frozen;
using System.Diagnostics;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Parties;
using Esb.Delivery.Intake;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Access;

/// <summary>Decides which callers may use an endpoint, and how often. Removes the credential from the request, unless the endpoint's
/// headers name it. Thread-safe.</summary>
/// <param name="checks">The credential checks, in order; empty if anyone may call, or if signatures are checked later.</param>
/// <param name="rights">The rights of each party.</param>
/// <param name="anybody">The rate limit of callers without a party; null for none.</param>
internal sealed class EndpointAccess(
    ListeningEndpointConfig config,
    IReadOnlyList<ICredentialCheck> checks,
    FrozenDictionary<Party, CallerRights> rights,
    RateLimit? anybody,
    IMessageIntake intake,
    IntakeState state,
    DeniedCalls calls,
    GuessBrake guesses,
    TimeProvider time
)
{
    private readonly ICredentialCheck[] _checks = [.. checks];
    private readonly string[] _withheld =
    [
        .. new[] { "Authorization", config.ApiKeyHeader }.Except(config.Headers, StringComparer.OrdinalIgnoreCase),
    ];
    private readonly StringValues _challenges = new([.. checks.Select(check => check.Challenge)]);

    /// <summary>Admits a caller by the credentials in the head of its request.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-UNAUTHENTICATED</c>: the caller is unknown. <c>ESB-HTTP-GUESSES</c>: its address has
    /// shown too many wrong credentials. Otherwise as
    /// <see cref="AdmitAsync"/>.</exception>
    public ValueTask EnterAsync(HttpContext context)
    {
        if (_checks.Length > 0)
            return IdentifyAsync(context);
        RequirePatience(anybody, null, context);
        return ValueTask.CompletedTask;
    }

    /// <summary>Admits an authenticated party.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-RATELIMIT</c>: it has called too often. <c>ESB-HTTP-FORBIDDEN</c>: it may not use the
    /// endpoint.</exception>
    public ValueTask AdmitAsync(HttpContext context, Party party)
    {
        foreach (var name in _withheld)
            context.Request.Headers.Remove(name);
        if (Activity.Current is { IsAllDataRequested: true } activity)
            activity.SetTag(EsbTelemetry.Tags.Party, party.Name);
        var right = rights[party];
        RequirePatience(right.Limit, party, context);
        if (!right.MayCall)
            return ForbidAsync(context, party);
        calls.CountAdmitted(party);
        context.Features.Set(party);
        return ValueTask.CompletedTask;
    }

    /// <summary>Counts a refused call.</summary>
    public void Deny(HttpContext context, Denial denial, string code, Party? party = null)
    {
        state.Count(IntakeOutcomes.Refused);
        calls.Count(denial, code, party, context.Connection.RemoteIpAddress);
    }

    /// <summary>Refuses an address that has shown too many wrong credentials; for credentials that stand in the body.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-GUESSES</c>.</exception>
    public void RequireUnguessed(HttpContext context)
    {
        if (guesses.WaitOf(context.Connection.RemoteIpAddress) is { } wait)
            RefuseGuess(context, wait);
    }

    /// <summary>Counts wrong credentials that stood in the body.</summary>
    public void CountWrong(HttpContext context) => guesses.CountWrong(context.Connection.RemoteIpAddress);

    private async ValueTask IdentifyAsync(HttpContext context)
    {
        RequireUnguessed(context);
        var denial = Denial.Missing;
        foreach (var check in _checks)
        {
            var verdict = await check.IdentifyAsync(context);
            if (verdict.Party is { } party)
            {
                await AdmitAsync(context, party);
                return;
            }

            if (verdict.Denial != Denial.Missing)
                denial = verdict.Denial;
        }

        const string code = "ESB-HTTP-UNAUTHENTICATED";
        if (denial != Denial.Missing)
            guesses.CountWrong(context.Connection.RemoteIpAddress);
        Deny(context, denial, code);
        context.Response.Headers.WWWAuthenticate = _challenges;
        throw HttpProblems.Of(StatusCodes.Status401Unauthorized, code, "The caller has not proved who it is.");
    }

    private void RefuseGuess(HttpContext context, TimeSpan wait)
    {
        const string code = "ESB-HTTP-GUESSES";
        Deny(context, Denial.RateLimit, code);
        throw new EsbException(code, "Too many wrong credentials from this address; try again later.", FaultKind.Unavailable)
        {
            Status = StatusCodes.Status429TooManyRequests,
            RetryAfter = wait,
        };
    }

    private void RequirePatience(RateLimit? limit, Party? party, HttpContext context)
    {
        if (limit is null || limit.Take() is not { Ticks: > 0 } wait)
            return;
        const string code = "ESB-HTTP-RATELIMIT";
        Deny(context, Denial.RateLimit, code, party);
        throw new EsbException(code, "More calls than agreed; try again later.", FaultKind.Unavailable)
        {
            Status = StatusCodes.Status429TooManyRequests,
            RetryAfter = wait,
        };
    }

    private async ValueTask ForbidAsync(HttpContext context, Party party)
    {
        const string code = "ESB-HTTP-FORBIDDEN";
        const string reason = "The caller may not use this endpoint.";
        calls.Count(Denial.Forbidden, code, party, context.Connection.RemoteIpAddress);
        var refused = EsbMessage.Create(MessageBody.Empty, time) with { Party = party.Name };
        context.Response.Headers[HttpFields.MessageId] = refused.Id.ToString(); // the audit uses this id
        await intake.RefuseAsync(refused, code, reason, CancellationToken.None);
        throw HttpProblems.Of(StatusCodes.Status403Forbidden, code, reason);
    }
}
