using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Reads the operator and the idempotency name of a request.</summary>
internal static class Operators
{
    /// <summary>The self-declared name of the operator, a person or a program, where the key has no name of its own.</summary>
    public const string Header = "X-Esb-Operator";

    /// <summary>The client's name for a command: a command repeated under the same name is carried out once
    /// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/).</summary>
    public const string CommandHeader = "Idempotency-Key";

    private const string Nameless = "management key";
    private const int MaxLength = 200;
    private const int MaxReasonLength = 1_000;

    public static OperatorDecision DecisionOf(HttpRequest request, string? reason) => new(NameOf(request), Checked(reason));

    // A configured key has an owner; the one key of the first start is anybody's, who say themselves who they are.
    private static string NameOf(HttpRequest request)
    {
        var said = Text(request, Header);
        return request.HttpContext.Features.Get<ManagementUser>()?.Name ?? said ?? Nameless;
    }

    /// <summary>The operator's decision, with a mandatory reason.</summary>
    public static OperatorDecision WithReason(HttpRequest request, string? reason) =>
        string.IsNullOrWhiteSpace(reason)
            ? throw Problems.Parameter("reason", "expected why, in a few words")
            : DecisionOf(request, reason);

    public static string? CommandOf(HttpRequest request) => Text(request, CommandHeader);

    private static string? Text(HttpRequest request, string header)
    {
        var values = request.Headers[header];
        if (values.Count == 0)
            return null;
        return values is [{ Length: > 0 and <= MaxLength } value] && HeaderRules.IsValue(value)
            ? value
            : throw Problems.Parameter(header, $"expected once, with 1 to {MaxLength} characters");
    }

    private static string? Checked(string? reason) =>
        reason is null || reason.Length <= MaxReasonLength
            ? reason
            : throw Problems.Parameter("reason", $"expected at most {MaxReasonLength} characters");
}
