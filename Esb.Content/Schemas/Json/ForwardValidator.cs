using System.Buffers;
using System.Numerics;
using System.Text;
using System.Text.Json;
using Esb.Content.Json;
using Esb.Content.Json.Scanning;

namespace Esb.Content.Schemas.Json;

/// <summary>Validates UTF-8 JSON in one pass. It checks what <see cref="JsonInput"/> checks: grammar, depth, duplicate names, limits. Only
/// values of schemas that need it are read as trees.</summary>
internal ref struct ForwardValidator
{
    private const int FewCharacters = 256; // longer texts come from a pool
    private const int FewWords = 4; // 256 names; more take memory from the heap

    private static readonly JsonDocumentOptions TreeOptions = new() { MaxDepth = JsonInput.MaxDepth, AllowDuplicateProperties = false };

    private readonly ReadOnlyMemory<byte> _document;
    private readonly Violations _violations;
    private readonly PointerTrail _trail;
    private Utf8JsonReader _reader;
    private MemberNames? _names; // of objects with names that their plan does not know
    private TreeValidator? _trees;

    public ForwardValidator(ReadOnlyMemory<byte> document, Violations violations)
    {
        _document = document;
        _violations = violations;
        _trail = new PointerTrail(document);
        _reader = new Utf8JsonReader(document.Span, new JsonReaderOptions { MaxDepth = JsonInput.MaxDepth });
    }

    /// <exception cref="JsonException">It is no JSON.</exception>
    /// <exception cref="InvalidOperationException">A string is no Unicode text.</exception>
    /// <exception cref="Core.Errors.EsbException">A limit is exceeded, or it cannot be decided in time.</exception>
    public void Check(ForwardPlan plan)
    {
        _reader.Read();
        CheckValue(plan);
        _reader.Read(); // refuses what follows the document
    }

    private readonly int Offset => (int)_reader.TokenStartIndex;

    private void CheckValue(ForwardPlan plan)
    {
        if (plan.Trees.Count > 0)
        {
            CheckTree(plan);
            return;
        }

        if (plan.Never is { } keyword)
        {
            Report(Offset, keyword, "is not allowed");
            plan = ForwardPlan.Any;
        }

        switch (_reader.TokenType)
        {
            case JsonTokenType.StartObject:
                CheckType(plan, JsonTypes.Object);
                CheckMembers(plan);
                break;
            case JsonTokenType.StartArray:
                CheckType(plan, JsonTypes.Array);
                CheckItems(plan);
                break;
            case JsonTokenType.String:
                CheckType(plan, JsonTypes.String);
                CheckAllowed(plan);
                if (plan.ReadsTexts)
                    CheckText(plan);
                break;
            case JsonTokenType.Number:
                CheckNumber(plan);
                break;
            default:
                CheckType(plan, _reader.TokenType == JsonTokenType.Null ? JsonTypes.Null : JsonTypes.Boolean);
                CheckAllowed(plan);
                break;
        }
    }

    private readonly void CheckType(ForwardPlan plan, JsonTypes type)
    {
        if ((plan.Types & type) == 0)
            Report(Offset, "type", TypeNames.Problem(plan.Types));
    }

    private void CheckAllowed(ForwardPlan plan)
    {
        foreach (var allowed in plan.Allowed)
        {
            if (!allowed.Contains(ref _reader))
                Report(Offset, allowed.Keyword, allowed.Problem);
        }
    }

    private void CheckNumber(ForwardPlan plan)
    {
        if (plan.Types != JsonTypes.Any)
            CheckType(plan, TypeNames.OfNumber(_reader.ValueSpan));
        CheckAllowed(plan);
        if (plan.Bounds.Length + plan.Divisors.Length == 0)
            return;
        var number = new DecimalText(_reader.ValueSpan);
        foreach (var bound in plan.Bounds)
        {
            if (!bound.Holds(number))
                Report(Offset, bound.Keyword, bound.Describe());
        }

        foreach (var divisor in plan.Divisors)
        {
            if (!divisor.Divides(number))
                Report(Offset, "multipleOf", $"is not a multiple of {divisor.Text}");
        }
    }

    private void CheckText(ForwardPlan plan)
    {
        if (!_reader.ValueIsEscaped)
        {
            CheckText(plan, _reader.ValueSpan);
            return;
        }

        var length = _reader.ValueSpan.Length;
        var rented = length <= FewCharacters ? null : ArrayPool<byte>.Shared.Rent(length);
        Span<byte> text = rented ?? stackalloc byte[FewCharacters];
        try
        {
            CheckText(plan, text[.._reader.CopyString(text)]);
        }
        finally
        {
            if (rented is not null)
                ArrayPool<byte>.Shared.Return(rented);
        }
    }

    private readonly void CheckText(ForwardPlan plan, scoped ReadOnlySpan<byte> text)
    {
        var length = TextLength.Of(text);
        if (length < plan.MinLength)
            Report(Offset, "minLength", $"is shorter than {plan.MinLength} characters");
        if (length > plan.MaxLength)
            Report(Offset, "maxLength", $"is longer than {plan.MaxLength} characters");
        if (plan.Patterns.Length + plan.Formats.Length == 0)
            return;
        var rented = text.Length <= FewCharacters ? null : ArrayPool<char>.Shared.Rent(text.Length);
        Span<char> characters = rented ?? stackalloc char[FewCharacters];
        try
        {
            CheckForm(plan, characters[..Encoding.UTF8.GetChars(text, characters)]);
        }
        finally
        {
            if (rented is not null)
                ArrayPool<char>.Shared.Return(rented);
        }
    }

    private readonly void CheckForm(ForwardPlan plan, scoped ReadOnlySpan<char> text)
    {
        foreach (var pattern in plan.Patterns)
        {
            if (!pattern.IsMatch(text))
                Report(Offset, "pattern", $"does not match {pattern.Source}");
        }

        foreach (var format in plan.Formats)
        {
            if (!format.Accepts(text))
                Report(Offset, "format", $"is not in the format {format.Name}");
        }
    }

    private void CheckMembers(ForwardPlan plan)
    {
        var words = plan.Required.Length;
        Span<ulong> seen = words <= FewWords ? stackalloc ulong[FewWords] : new ulong[words];
        var (start, count, next, hasUnknown) = (Offset, 0L, 0, false);
        _trail.Push();
        while (_reader.Read() && _reader.TokenType == JsonTokenType.PropertyName)
        {
            count++;
            _trail.SetName(Offset, _reader.ValueSpan.Length + 2);
            var index = plan.Names.Find(ref _reader, next);
            if (index >= 0)
            {
                var bit = 1UL << (index % 64);
                if ((seen[index / 64] & bit) != 0)
                    throw Twice();
                seen[index / 64] |= bit;
                next = index + 1;
            }
            else
            {
                NoteUnknown(ref hasUnknown);
            }

            var member = index >= 0 ? plan.Members[index] : Other(plan);
            if (plan.NamePlan is not null)
                CheckName(plan.NamePlan);
            _reader.Read();
            CheckValue(member);
        }

        _trail.Pop();
        if (hasUnknown)
            _names!.End();
        CheckPresent(plan, start, seen);
        if (count < plan.MinProperties)
            Report(start, "minProperties", $"has fewer than {plan.MinProperties} members");
        if (count > plan.MaxProperties)
            Report(start, "maxProperties", $"has more than {plan.MaxProperties} members");
        if (plan.Allowed.Length > 0)
            ReportNotScalar(plan, start);
    }

    private void NoteUnknown(ref bool hasUnknown)
    {
        _names ??= new MemberNames(_document);
        if (!hasUnknown)
            _names.Begin();
        hasUnknown = true;
        if (!_names.TryAdd(ref _reader, Offset))
            throw Twice();
    }

    private static JsonException Twice() => new("a name comes twice");

    private readonly ForwardPlan Other(ForwardPlan plan)
    {
        if (plan.Others.Length <= 1)
            return plan.Others.Length == 0 ? ForwardPlan.Any : plan.Others[0];
        var (name, bits) = (_reader.GetString()!, 0);
        for (var i = 0; i < plan.NamePatterns.Length; i++)
            bits |= plan.NamePatterns[i].IsMatch(name) ? 1 << i : 0;
        return plan.Others[bits];
    }

    // A name is validated as the text that it is.
    private void CheckName(ForwardPlan plan)
    {
        if (plan.Never is { } keyword)
            Report(Offset, keyword, "is not allowed");
        CheckType(plan, JsonTypes.String);
        CheckAllowed(plan);
        if (plan.ReadsTexts)
            CheckText(plan);
    }

    private readonly void CheckPresent(ForwardPlan plan, int start, scoped ReadOnlySpan<ulong> seen)
    {
        for (var word = 0; word < plan.Required.Length; word++)
        {
            for (var missing = plan.Required[word] & ~seen[word]; missing != 0; missing &= missing - 1)
                Report(start, "required", $"lacks \"{plan.Names.Texts[(word * 64) + BitOperations.TrailingZeroCount(missing)]}\"");
        }

        foreach (var (name, needed) in plan.DependentRequired)
        {
            if (!Has(seen, name))
                continue;
            foreach (var other in needed)
            {
                if (!Has(seen, other))
                    Report(start, "dependentRequired", $"has \"{plan.Names.Texts[name]}\" and lacks \"{plan.Names.Texts[other]}\"");
            }
        }
    }

    private static bool Has(ReadOnlySpan<ulong> seen, int index) => (seen[index / 64] >> (index % 64) & 1) == 1;

    private void CheckItems(ForwardPlan plan)
    {
        var (start, count) = (Offset, 0);
        _trail.Push();
        while (_reader.Read() && _reader.TokenType != JsonTokenType.EndArray)
        {
            _trail.SetIndex(count);
            CheckValue(count < plan.FirstItems.Length ? plan.FirstItems[count] : plan.Items ?? ForwardPlan.Any);
            count++;
        }

        _trail.Pop();
        if (count < plan.MinItems)
            Report(start, "minItems", $"has fewer than {plan.MinItems} items");
        if (count > plan.MaxItems)
            Report(start, "maxItems", $"has more than {plan.MaxItems} items");
        if (plan.Allowed.Length > 0)
            ReportNotScalar(plan, start);
    }

    // Allowed values that are objects or arrays are compared as trees.
    private readonly void ReportNotScalar(ForwardPlan plan, int start)
    {
        foreach (var allowed in plan.Allowed)
            Report(start, allowed.Keyword, allowed.Problem);
    }

    private void CheckTree(ForwardPlan plan)
    {
        // limits of names and members
        if (_trees is null && _document.Length > JsonInput.MaxNameBytes)
            new JsonScan(new JsonPathSet(), _document).ReadToEnd();
        _trees ??= new TreeValidator(_document, _trail, _violations);
        var start = Offset;
        _reader.Skip();
        using var tree = JsonDocument.Parse(_document[start..(int)_reader.BytesConsumed], TreeOptions);
        foreach (var schema in plan.Trees)
            _trees.Check(schema, tree.RootElement);
    }

    private readonly void Report(int offset, string keyword, string problem) => _violations.Add(offset, _trail.ToString, keyword, problem);
}
