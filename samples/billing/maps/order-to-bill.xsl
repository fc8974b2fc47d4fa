<?xml version="1.0" encoding="utf-8"?>
<!-- What an order costs, for whoever pays. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="xml" encoding="utf-8"/>
  <xsl:template match="/order">
    <bill order="{@id}">
      <customer><xsl:value-of select="customer"/></customer>
      <amount><xsl:value-of select="total"/></amount>
    </bill>
  </xsl:template>
</xsl:stylesheet>
