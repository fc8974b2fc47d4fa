using System.Globalization;
using Esb.Core.Configuration.Settings;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes.Steps.Scattering;

/// <summary>Settings of the step <c>scatter</c>.</summary>
[ExactlyOne("endpoints", "subjects")]
internal sealed record ScatterConfig : SettingsRecord
{
    [Setting("The outbound endpoints to call at once.", Reference = "endpoints")]
    public IReadOnlyList<string> Endpoints { get; init; } = [];

    [Setting("The subjects to publish the request under at once; exactly one endpoint answers each.")]
    public IReadOnlyList<Subject> Subjects { get; init; } = [];

    [Setting("How long to wait for the answers.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(30);

    [Setting("How many good answers there must be in time: all, any or a number.")]
    public RequiredAnswers Require { get; init; } = RequiredAnswers.All;

    [Setting(
        "What becomes the body: array, a JSON array of all answers in the order named; first, the first good answer; or what a map "
            + "makes of the array."
    )]
    public GatherConfig Gather { get; init; } = new() { As = GatherForm.Array };
}

/// <summary>What becomes of the answers.</summary>
[ExactlyOne("as", "map")]
internal sealed record GatherConfig : SettingsRecord
{
    [Setting("array or first.", Main = true)]
    public GatherForm? As { get; init; }

    [Setting("A map for JSON, whose input is the array.", Reference = "maps")]
    public string? Map { get; init; }
}

/// <summary>Forms of the answers.</summary>
internal enum GatherForm
{
    /// <summary>A JSON array of all answers.</summary>
    Array,

    /// <summary>The first good answer.</summary>
    First,
}

/// <summary>A number of good answers: <c>all</c>, <c>any</c>, <c>2</c>.</summary>
/// <param name="Count">The number; null for all.</param>
internal sealed record RequiredAnswers(int? Count) : ITextSetting<RequiredAnswers>
{
    /// <summary>All of them.</summary>
    public static readonly RequiredAnswers All = new(Count: null);

    public static string Code => "ESB-CFG-VALUE";

    public static string Expected => "expected all, any or a number from 1";

    public static bool TakesNumbers => true;

    public (string Section, string Name)? Reference => null;

    public static RequiredAnswers? Parse(string text) =>
        text switch
        {
            "all" => All,
            "any" => new RequiredAnswers(1),
            _ => int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var count) && count > 0
                ? new RequiredAnswers(count)
                : null,
        };

    public override string ToString() => Count is { } count ? count.ToString(CultureInfo.InvariantCulture) : "all";
}
