using System.Runtime.CompilerServices;

namespace Esb.Tests.Audit.Journeys;

/// <summary>Texts that stay as they are. With <c>ESB_ACCEPT=1</c> in the environment they are written instead of compared.</summary>
internal static class Golden
{
    public static void Check(string name, string text, [CallerFilePath] string here = "")
    {
        var path = Path.Combine(Path.GetDirectoryName(here)!, "Golden", name);
        if (Environment.GetEnvironmentVariable("ESB_ACCEPT") == "1")
            File.WriteAllText(path, text);
        Assert.That(
            text,
            Is.EqualTo(File.Exists(path) ? File.ReadAllText(path) : "nothing yet"),
            $"{name}: look at it, then run the test with ESB_ACCEPT=1"
        );
    }
}
