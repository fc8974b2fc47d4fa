using System.Text;
using Esb.Tests;
using NUnit.Framework.Interfaces;

[assembly: RunningTest]

namespace Esb.Tests;

/// <summary>Writes the name of each test, as it begins, into the file that <c>ESB_TEST_RUNNING</c> names, so that one that hangs, or ends
/// the process, is known. The collector of the test platform does the same for a fifth of the processor time of the unit tests.</summary>
[AttributeUsage(AttributeTargets.Assembly)]
internal sealed class RunningTestAttribute : Attribute, ITestAction
{
    private static readonly FileStream? Output = Environment.GetEnvironmentVariable("ESB_TEST_RUNNING") is { Length: > 0 } path
        ? new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read, bufferSize: 0)
        : null;

    public ActionTargets Targets => ActionTargets.Test;

    public void BeforeTest(ITest test)
    {
        if (Output is null)
            return;
        var line = Encoding.UTF8.GetBytes(test.FullName + "\n");
        RandomAccess.Write(Output.SafeFileHandle, line, fileOffset: 0);
        Output.SetLength(line.Length);
    }

    public void AfterTest(ITest test) { }
}
