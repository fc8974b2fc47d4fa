using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Esb.Content.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Schemas.Json;

/// <summary>Validates against one JSON Schema (2020-12).</summary>
/// <param name="name">Its name in the configuration.</param>
/// <param name="root">The compiled schema.</param>
internal sealed class JsonMessageSchema(string name, SchemaNode root) : IMessageSchema
{
    private const string Code = "ESB-JSON-SCHEMA";

    private readonly ForwardPlan _plan = new ForwardPlanner().Plan(root);
    private readonly Lazy<MemberTypes> _types = new(() => MemberTypes.Of(root));

    public string Name => name;

    public ValueTypes Types => _types.Value;

    public void Validate(EsbMessage message)
    {
        var bytes = message.Body.Bytes;
        if (bytes.Span.StartsWith(Encoding.UTF8.Preamble))
            bytes = bytes[Encoding.UTF8.Preamble.Length..];
        var violations = new Violations(bytes);
        try
        {
            if (_plan.Trees.Count > 0)
                CheckTree(message.Body, bytes, violations);
            else
                CheckForward(bytes, violations);
        }
        catch (RegexMatchTimeoutException ex)
        {
            throw new EsbException(
                Code,
                $"The document cannot be validated with schema {name}: a pattern of the schema took longer than "
                    + $"{ex.MatchTimeout.TotalSeconds:0} s.",
                FaultKind.Invalid
            );
        }

        if (violations.Count > 0)
            throw Broken(violations);
    }

    // The tree is kept with the body, for those who read it next.
    private void CheckTree(MessageBody body, ReadOnlyMemory<byte> bytes, Violations violations)
    {
        var root = JsonInput.Read(body);
        var validator = new TreeValidator(bytes, new PointerTrail(bytes), violations);
        foreach (var schema in _plan.Trees)
            Guard(bytes.Span, () => validator.Check(schema, root));
    }

    private void CheckForward(ReadOnlyMemory<byte> bytes, Violations violations)
    {
        JsonFaults.RequireUtf8(bytes.Span);
        Guard(bytes.Span, () => new ForwardValidator(bytes, violations).Check(_plan));
    }

    private static void Guard(ReadOnlySpan<byte> document, Action validate)
    {
        try
        {
            validate();
        }
        catch (JsonException ex)
        {
            throw JsonFaults.Explain(ex, document);
        }
        catch (InvalidOperationException ex)
        {
            throw JsonFaults.NotText(ex); // a string that was looked into
        }
    }

    private EsbException Broken(Violations violations)
    {
        var places = violations.Count == 1 ? "1 place" : $"{violations.Count} places";
        var more = violations.Count > Violations.Shown ? $"; the first {Violations.Shown}" : "";
        return new EsbException(
            Code,
            $"The document breaks schema {name} in {places}{more}: {string.Join("; ", violations.First)}.",
            FaultKind.Invalid
        );
    }
}
