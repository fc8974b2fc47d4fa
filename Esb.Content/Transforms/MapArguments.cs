using System.Xml.Xsl;
using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Content.Transforms;

/// <summary>Passes the arguments of a map to the engine.</summary>
internal sealed class MapArguments(string map, IReadOnlyList<MapParameter> parameters, XmlInput xml)
{
    /// <exception cref="EsbException">A parameter without a default is missing, or a further document cannot be read.</exception>
    public void Add(ReadOnlySpan<MapArgument> arguments, XsltArgumentList target)
    {
        Require(arguments);
        foreach (var argument in arguments)
            target.AddParam(argument.Name, "", ToEngine(argument));
    }

    /// <exception cref="EsbException">A parameter without a default is missing.</exception>
    public void Require(ReadOnlySpan<MapArgument> arguments)
    {
        foreach (var parameter in parameters)
        {
            if (parameter.IsRequired && !Contains(arguments, parameter.Name))
                throw new EsbException(
                    "ESB-XSL-PARAM",
                    $"The map {map} needs the parameter '{parameter.Name}', for which there is no value.",
                    FaultKind.Invalid
                );
        }
    }

    private static bool Contains(ReadOnlySpan<MapArgument> arguments, string name)
    {
        foreach (var argument in arguments)
        {
            if (argument.Name == name)
                return true;
        }

        return false;
    }

    private object ToEngine(MapArgument argument) =>
        argument.Value switch
        {
            double or bool => argument.Value,
            MessageBody document => Navigate(argument.Name, document),
            _ => MessageValues.AsText(argument.Value)!,
        };

    private object Navigate(string name, MessageBody document)
    {
        try
        {
            return xml.Navigate(document);
        }
        catch (EsbException ex)
        {
            throw new EsbException(ex.Code, $"The input '{name}' of the map {map}: {ex.Message}", ex.Kind, ex);
        }
    }
}
