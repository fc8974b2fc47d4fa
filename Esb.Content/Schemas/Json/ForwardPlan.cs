namespace Esb.Content.Schemas.Json;

/// <summary>What has to hold of a value, from all schemas that apply to it together. Immutable once it is planned; thread-safe.</summary>
internal sealed class ForwardPlan
{
    /// <summary>Nothing has to hold, but that the value is JSON.</summary>
    public static readonly ForwardPlan Any = new();

    /// <summary>The schemas, for a value that is read as a tree; empty for one that is decided while it is read.</summary>
    public IReadOnlyList<SchemaNode> Trees { get; set; } = [];

    public string? Never { get; set; }

    public JsonTypes Types { get; set; } = JsonTypes.Any;

    public AllowedValues[] Allowed { get; set; } = [];

    public NumberBound[] Bounds { get; set; } = [];

    public Divisor[] Divisors { get; set; } = [];

    public long MinLength { get; set; }

    public long MaxLength { get; set; } = long.MaxValue;

    public EcmaPattern[] Patterns { get; set; } = [];

    public TextFormat[] Formats { get; set; } = [];

    /// <summary>True if texts are looked into.</summary>
    public bool ReadsTexts { get; set; }

    public NameTable Names { get; set; } = new([]);

    /// <summary>The plans of the members with these names.</summary>
    public ForwardPlan[] Members { get; set; } = [];

    /// <summary>Patterns that unknown names are matched with.</summary>
    public EcmaPattern[] NamePatterns { get; set; } = [];

    /// <summary>The plans of members with unknown names, by the bits of the patterns that match.</summary>
    public ForwardPlan[] Others { get; set; } = [];

    /// <summary>What has to hold of the names themselves; null for nothing.</summary>
    public ForwardPlan? NamePlan { get; set; }

    /// <summary>Bits of the names that must be there, 64 in each.</summary>
    public ulong[] Required { get; set; } = [];

    /// <summary>Indexes of the names that must be there if the first is.</summary>
    public (int Name, int[] Needed)[] DependentRequired { get; set; } = [];

    public long MinProperties { get; set; }

    public long MaxProperties { get; set; } = long.MaxValue;

    /// <summary>The plans of the first items.</summary>
    public ForwardPlan[] FirstItems { get; set; } = [];

    /// <summary>The plan of all further items.</summary>
    public ForwardPlan? Items { get; set; }

    public long MinItems { get; set; }

    public long MaxItems { get; set; } = long.MaxValue;
}
