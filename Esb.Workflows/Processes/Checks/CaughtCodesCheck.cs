using System.Text.RegularExpressions;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects <c>catch</c> codes that no step raises: such a branch would look like a safeguard and never run.</summary>
/// <param name="processes">All processes.</param>
/// <param name="areAll">True if all processes could be read.</param>
internal sealed partial class CaughtCodesCheck(ProcessModels processes, bool areAll)
{
    // Codes of configurations, the command line and the management API, which never run in a process.
    private static readonly string[] Elsewhere = ["ESB-CFG-", "ESB-CLI-", "ESB-API-", "ESB-XSD-"];

    private readonly List<string> _own = [.. processes.Steps.SelectMany(step => step.Traits.FailsWith)];

    // The endpoint that answers a request may fail with a code of its own.
    private readonly bool _mayComeFromOutside = !areAll || processes.Steps.Any(step => step.Traits.Requests.Count > 0);

    public void Check(ConfigErrors errors)
    {
        foreach (var caught in processes.Steps.SelectMany(step => step.Traits.Catches))
        {
            foreach (var code in caught.Codes)
            {
                if (ObjectionTo(code) is { } objection)
                    errors.Add("ESB-CFG-VALUE", caught.Settings, caught.Property, objection);
            }
        }
    }

    private string? ObjectionTo(string code)
    {
        if (_own.Exists(given => CodePattern.Matches(code, given)))
            return null;
        if (code == "ESB-CALL-STATUS")
            return "a call fails with ESB-HTTP-STATUS now, and no step gives ESB-CALL-STATUS any more";
        if (Elsewhere.Any(prefix => code.StartsWith(prefix, StringComparison.Ordinal)))
            return $"no step gives the code {code}";
        if (!WellFormed().IsMatch(code))
            return $"expected codes such as ESB-XML-SCHEMA or ESB-HTTP-*, not '{Shown(code)}'{NearestName.Hint(code, _own)}";
        return code.StartsWith("ESB", StringComparison.Ordinal) || code == "*" || _mayComeFromOutside
            ? null
            : $"no fail step gives the code {Shown(code)}{NearestName.Hint(code, _own)}";
    }

    private static string Shown(string code) => code.Length <= 40 ? code : code[..39] + "…";

    [GeneratedRegex(@"\A([A-Z][A-Z0-9]*(-[A-Z0-9]+)*(-?\*)?|\*)\z")]
    private static partial Regex WellFormed();
}
