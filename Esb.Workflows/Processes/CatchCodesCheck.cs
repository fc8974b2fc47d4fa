using System.Text.RegularExpressions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Processes;

/// <summary>Refuses codes to be caught that no step gives: such a branch would look like a safeguard, and be none.</summary>
internal sealed partial class CatchCodesCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    // Of configurations, the command line and the management API: none of them runs in a process.
    private static readonly string[] Elsewhere = ["ESB-CFG-", "ESB-CLI-", "ESB-API-", "ESB-XSD-"];

    private readonly List<StepConfig> _steps = [.. StepTree.Descend(configuration.Named<IReadOnlyList<StepConfig>>("processes").Values.SelectMany(steps => steps))];

    public void Check(ConfigErrors errors)
    {
        var own = _steps.Select(step => step.Settings).OfType<FailConfig>().Select(fail => fail.Code).ToList();
        foreach (var branch in _steps.Select(step => step.Settings).OfType<TryConfig>().SelectMany(attempt => attempt.Catch))
        {
            foreach (var code in branch.Codes) Check(code, own, branch, errors);
        }
    }

    private void Check(string code, List<string> own, CatchConfig branch, ConfigErrors errors)
    {
        if (own.Any(given => CodePattern.Matches(code, given))) return;
        if (Elsewhere.Any(prefix => code.StartsWith(prefix, StringComparison.Ordinal)))
            errors.Add("ESB-CFG-VALUE", branch, "codes", $"no step gives the code {code}");
        else if (!WellFormed().IsMatch(code))
            errors.Add("ESB-CFG-VALUE", branch, "codes", $"expected codes such as ESB-XML-SCHEMA or ESB-HTTP-*, not '{Shown(code)}'{NearestName.Hint(code, own)}");
        else if (!code.StartsWith("ESB", StringComparison.Ordinal) && !MayComeFromOutside(code))
            errors.Add("ESB-CFG-VALUE", branch, "codes", $"no fail step gives the code {Shown(code)}{NearestName.Hint(code, own)}");
    }

    // Whoever answers a request may fail with a code of its own.
    private bool MayComeFromOutside(string code) => code == "*" || _steps.Exists(step => step.Settings is RequestConfig) || !configuration.IsSound("processes");

    private static string Shown(string code) => code.Length <= 40 ? code : code[..39] + "…";

    [GeneratedRegex(@"\A([A-Z][A-Z0-9]*(-[A-Z0-9]+)*(-?\*)?|\*)\z")]
    private static partial Regex WellFormed();
}
