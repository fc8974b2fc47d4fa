using System.Reflection;

namespace Esb.Tests.Architecture;

/// <summary>Every row of the catalogue of bad inputs that the product has to stand has a test that names it.</summary>
public sealed class BadInputTests
{
    private static readonly HashSet<string> Tested =
    [
        .. Assembly
            .GetExecutingAssembly()
            .GetTypes()
            .SelectMany(type => type.GetMethods().Append<MemberInfo>(type))
            .SelectMany(member => member.GetCustomAttributes<PropertyAttribute>())
            .SelectMany(attribute => attribute.Properties["Case"].OfType<string>()),
    ];

    [
        TestCase("HTP", 32),
        TestCase("HDR", 14),
        TestCase("XML", 21),
        TestCase("XSL", 20),
        TestCase("XPT", 12),
        TestCase("JSN", 17),
        TestCase("FLT", 14),
        TestCase("SMT", 12),
        TestCase("SOP", 12),
        TestCase("FIL", 20)
    ]
    public void Each_row_has_a_test(string family, int rows) =>
        Assert.That(Enumerable.Range(1, rows).Select(row => $"{family}-{row:00}").Where(row => !Tested.Contains(row)), Is.Empty);
}
