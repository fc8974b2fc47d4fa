using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Who asks, and under which name a command may be repeated.</summary>
internal static class Operators
{
    /// <summary>The name of the person or program that decides, as it calls itself: the key alone opens the API.</summary>
    public const string Header = "X-Esb-Operator";

    /// <summary>The client's name for a command: sent again with the same one, it is done once (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/).</summary>
    public const string CommandHeader = "Idempotency-Key";

    private const string Nameless = "management key";
    private const int MaxLength = 200;
    private const int MaxReasonLength = 1_000;

    public static OperatorDecision DecisionOf(HttpRequest request, string? reason) => new(Text(request, Header) ?? Nameless, Checked(reason));

    /// <summary>The decision, which has to say why.</summary>
    public static OperatorDecision WithReason(HttpRequest request, string? reason) =>
        string.IsNullOrWhiteSpace(reason) ? throw Problems.Parameter("reason", "expected why, in a few words") : DecisionOf(request, reason);

    public static string? CommandOf(HttpRequest request) => Text(request, CommandHeader);

    private static string? Text(HttpRequest request, string header)
    {
        var values = request.Headers[header];
        if (values.Count == 0) return null;
        return values is [{ Length: > 0 and <= MaxLength } value] && HeaderRules.IsValue(value) ? value : throw Problems.Parameter(header, $"expected once, with 1 to {MaxLength} characters");
    }

    private static string? Checked(string? reason) =>
        reason is null || reason.Length <= MaxReasonLength ? reason : throw Problems.Parameter("reason", $"expected at most {MaxReasonLength} characters");
}
