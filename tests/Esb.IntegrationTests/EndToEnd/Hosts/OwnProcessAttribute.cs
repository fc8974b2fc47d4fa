using NUnit.Framework.Interfaces;
using NUnit.Framework.Internal;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>Asks for a host with a process of its own, for a test that kills the host or measures it.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Method)]
internal sealed class OwnProcessAttribute() : PropertyAttribute(PropertyName, "yes")
{
    private const string PropertyName = "OwnProcess";

    /// <summary>True if the current test, or its fixture, asks.</summary>
    public static bool IsAsked
    {
        get
        {
            for (ITest? test = TestExecutionContext.CurrentContext.CurrentTest; test is not null; test = test.Parent)
            {
                if (test.Properties.ContainsKey(PropertyName))
                    return true;
            }

            return false;
        }
    }
}
