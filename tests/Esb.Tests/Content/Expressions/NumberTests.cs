using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Tests.Content.Expressions;

/// <summary>Numbers as texts, and beside texts.</summary>
public sealed class NumberTests
{
    [TestCase(42, "42"), TestCase(0.1, "0.1"), TestCase(-24.9, "-24.9"), TestCase(0, "0"), TestCase(-0.0, "0")]
    [
        TestCase(1e15, "1000000000000000"),
        TestCase(123456789012345680, "123456789012345680"),
        TestCase(-1.2345678901234566e25, "-12345678901234566000000000")
    ]
    [
        TestCase(0.00005, "0.00005"),
        TestCase(1.2345678901234568e-5, "0.000012345678901234568"),
        TestCase(1e-28, "0.0000000000000000000000000001")
    ]
    [TestCase(1e28, "10000000000000000000000000000"), TestCase(1e29, "1E+29"), TestCase(1e-29, "1E-29"), TestCase(1.25e-27, "1.25E-27")]
    [
        TestCase(double.NaN, "NaN"),
        TestCase(double.PositiveInfinity, "Infinity"),
        TestCase(double.NegativeInfinity, "-Infinity"),
        TestCase(double.Epsilon, "5E-324")
    ]
    public void Number_has_no_exponent_where_its_digits_are_few(double number, string expected) =>
        Assert.That(MessageValues.AsText(number), Is.EqualTo(expected));

    [TestCase("123456789012345679", false), TestCase("123456789012345680", true), TestCase("123456789012345680.0", true)]
    public void Long_number_equals_itself_alone(string constant, bool expected)
    {
        var condition = SomeContent
            .Compiler()
            .Compile(new ConditionConfig { Jsonpath = "$.id", EqualTo = SomeContent.Constant(constant) }, new ConfigErrors())!;

        Assert.That(condition.Holds(Some.Context("""{"id":123456789012345680}""")), Is.EqualTo(expected));
    }
}
